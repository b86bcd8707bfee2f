#!/bin/sh
# Install the locked environment into .venv. `make setup` calls this, in the project's folder:
#   PYTHON=... sh workflow/setup.sh VERSION_OF_UV
# It ends with .venv/.setup-done, which names the folder: so do the scripts of an environment.
# PYTHON names the interpreter; without it the first that fits is taken.
set -eu

uv_version=$1
tool=.tools/uv-$uv_version
uv=$tool/bin/uv
size=1.5 # GB on disk, of .venv and .tools together
fetched=3.13 # where no Python fits; every locked package has a wheel for it

bounds=$(sed -n 's/^requires-python = ">=3\.\([0-9]*\),<3\.\([0-9]*\)"$/\1 \2/p' pyproject.toml)
least=${bounds% *}
most=$((${bounds#* } - 1))
allowed="Python 3.$least to 3.$most"
PATH=${PATH#"$PWD/.venv/bin:"} # `python3` is to be the caller's

fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  if [ $# -gt 0 ]; then printf '       %s\n' "$@" >&2; fi
  exit 1
}

case $(pwd -P) in
*[:*]* | *'
'*) fail "Python's tools cannot work in a folder with : or * or a line break in its path: $(pwd -P)" \
  'Move it, or rename it' ;;
esac
if [ -s .venv/.setup-done ]; then
  IFS= read -r before <.venv/.setup-done
  if [ "$before" != "$(pwd -P)" ]; then
    echo "This folder was $before; .venv is made anew"
    rm -rf .venv
  fi
fi

# An environment that is there keeps its Python. Then comes what `python3` means here, then newer
# before older, but 3.14 after those that need no C compiler.
set -- .venv/bin/python python3 python3.13 python3.12 python3.11 python3.14 python \
  .tools/python/*/bin/python3

# Say which locked packages their authors have withdrawn since; nothing without a network.
say_yanked() {
  "$uv" export --quiet --frozen --extra replicate --no-emit-project --no-hashes 2>/dev/null |
    "$uv" pip compile --no-deps - 2>&1 >/dev/null | sed -n '/ is yanked/p' >&2
}

finish() {
  say_yanked
  mkdir -p .venv
  pwd -P >.venv/.setup-done
  exit
}

# Print what an interpreter is, e.g. `CPython 3.12.1`; nothing if it does not run.
describe() {
  "$1" -c 'import platform, sys
print("%s %s" % (platform.python_implementation(), sys.version.split(" (")[0]))' 2>/dev/null || :
}

# Whether an interpreter is one that the lock is for; `found` is what it is.
fits() {
  found=$(describe "$1")
  case $found in
  *free-threading*) return 1 ;; # many packages have no wheel for it
  'CPython 3.'*) minor=${found#CPython 3.} minor=${minor%%.*} ;;
  *) return 1 ;;
  esac
  [ "$minor" -ge "$least" ] && [ "$minor" -le "$most" ]
}

# Whether an interpreter of those that uv's package is for has these modules.
has() {
  "$1" -c "import sys, $2; sys.exit(sys.version_info < (3, 8))" 2>/dev/null
}

# Run pip, which says in many lines that there is no network.
pip_install() {
  mkdir -p .tools
  PIP_RETRIES=2 "$@" --require-hashes --requirement workflow/uv.txt 2>.tools/pip.log || {
    rm -rf "$tool"
    if grep -q 'DO NOT MATCH' .tools/pip.log; then
      fail "what was fetched as uv $uv_version is not what workflow/uv.txt says (.tools/pip.log)"
    fi
    fail "uv $uv_version could not be fetched: is there a network? (.tools/pip.log)"
  }
}

# Install uv with the first interpreter that can; any version that uv's package is for will do.
install_uv() {
  for candidate in "$@"; do
    if has "$candidate" 'ensurepip, venv'; then
      rm -rf "$tool"
      "$candidate" -m venv "$tool"
      pip_install "$tool/bin/python" -m pip install --quiet
      return
    elif has "$candidate" pip; then
      rm -rf "$tool"
      pip_install "$candidate" -m pip install --quiet --target "$tool"
      return
    fi
  done
  fail "$allowed is needed, with venv or pip; found ${seen:-none}" \
    'Debian, Ubuntu: apt install python3 python3-venv'
}

python='' seen=''
if [ -n "${PYTHON:-}" ]; then
  fits "$PYTHON" || fail "$allowed is needed; $PYTHON is ${found:-nothing that runs}" \
    'Name another, e.g. make setup PYTHON=/path/to/python3, or none: make setup'
  python=$PYTHON seen="$PYTHON: $found"
  set -- "$PYTHON" "$@"
else
  for candidate in "$@"; do
    if fits "$candidate"; then python=$candidate; fi
    seen=$seen${found:+${seen:+, }$candidate: $found}
    if [ -n "$python" ]; then break; fi
  done
fi

if [ ! -x .venv/bin/fairbandits ]; then
  echo "Setting up needs a network and $size GB, all in this folder"
fi
if [ ! -x "$uv" ]; then
  echo "Installing uv $uv_version into .tools"
  install_uv "$@"
fi
if [ -n "$python" ]; then
  echo "Installing the locked environment into .venv, with $python: $found"
  "$uv" sync --frozen --extra replicate --python "$(command -v "$python")" && finish
  [ "$minor" -lt 14 ] || fail 'on Python 3.14 one package is built, with a C compiler' \
    'Debian, Ubuntu: apt install gcc libc6-dev python3-dev' \
    'Another Python needs none: make setup PYTHON=python3.13'
  fail 'the packages could not all be fetched, as said above: is there a network?'
else
  echo "$allowed is needed; found ${seen:-none}"
  echo "Fetching Python $fetched into .tools/python for the locked environment in .venv"
  export UV_PYTHON_DOWNLOADS=automatic UV_PYTHON_INSTALL_DIR="$PWD/.tools/python"
  "$uv" sync --frozen --extra replicate --python "$fetched" && finish
  echo 'If Python could not be fetched, install one that fits, or name it:' >&2
  echo '  make setup PYTHON=/path/to/python3' >&2
fi
exit 1
