#!/usr/bin/env bash
# Set up and run the committed project on a fresh Debian 13, and compare its numbers with ours here.
#
#   sudo tests/fresh/debian13.sh [FOLDER]
#
# FOLDER takes the system, some 2 GB, and is kept; without it a temporary one is used and removed.
# SUITE names another release (forky), EXTRA packages that it needs besides (gcc,libc6-dev,python3-dev
# where Python is 3.14), MIRROR where Debian comes from. Needs root and debootstrap, and the
# time of two smoke runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

suite=${SUITE:-trixie}
packages=ca-certificates,git,make,python3,python3-venv${EXTRA:+,$EXTRA}
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/*$' || :)}
mirror=${mirror:-http://deb.debian.org/debian}
smoke=(--config config/config.yaml --config config/smoke.yaml)

say() { printf '\n== %s\n' "$*"; }
fail() {
  echo "error: $*" >&2
  exit 1
}

[ "$(id -u)" -eq 0 ] || fail 'debootstrap and chroot need root; run this with sudo'
command -v debootstrap >/dev/null || fail 'debootstrap is needed: apt install debootstrap'
git diff --quiet HEAD || fail 'what is committed is what is compared; commit or stash first'

if [ $# -gt 0 ]; then
  mkdir -p "$1"
  system=$(cd "$1" && pwd)
else
  system=$(mktemp -d)
fi
project=$system/srv/fairbandits

clean_up() {
  for place in dev/shm proc; do
    if mountpoint -q "$system/$place"; then umount "$system/$place"; fi
  done
  if [ $# -eq 0 ]; then rm -rf --one-file-system "$system"; fi
}
trap 'clean_up "$@"' EXIT

# Proxies, package index and certificates are those of the caller, for this run alone.
settings=(HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL \
  PIP_EXTRA_INDEX_URL PIP_CERT UV_DEFAULT_INDEX UV_INDEX SSL_CERT_FILE; do
  if [ -n "${!name:-}" ]; then settings+=("$name=${!name}"); fi
done
inside() { chroot "$system" env -i "${settings[@]}" sh -c "cd /srv/fairbandits && $1"; }

if [ ! -x "$system/usr/bin/python3" ]; then
  say "Debian $suite into $system"
  script=/usr/share/debootstrap/scripts/$suite
  if [ ! -e "$script" ]; then script=${script%/*}/sid; fi
  debootstrap --variant=minbase --include="$packages" "$suite" "$system" "$mirror" "$script" >"$system.log" ||
    fail "debootstrap failed; see $system.log"
fi
cp -L /etc/resolv.conf "$system/etc/resolv.conf"
for file in "${PIP_CERT:-}" "${SSL_CERT_FILE:-}"; do
  if [ -f "$file" ]; then install -D -m 644 "$file" "$system$file"; fi
done
mountpoint -q "$system/proc" || mount -t proc proc "$system/proc"
mountpoint -q "$system/dev/shm" || { mkdir -p "$system/dev/shm" && mount -t tmpfs shm "$system/dev/shm"; }

say 'Inside: make setup, make smoke'
rm -rf "$project"
git clone --quiet --no-hardlinks . "$project"
inside 'make setup && make smoke'
inside ".venv/bin/fairbandits lock ${smoke[*]} --out found.lock"

say 'Outside: the same datasets'
make setup
.venv/bin/fairbandits replicate --smoke datasets
here=$(mktemp)
.venv/bin/fairbandits lock "${smoke[@]}" --out "$here"

say 'Compared'
describe='import platform as p; print("Python", p.python_version(), *p.libc_ver())'
echo "inside:  $(inside ".venv/bin/python -c '$describe'")"
echo "outside: $(.venv/bin/python -c "$describe")"
.venv/bin/python - "$project/found.lock" "$here" <<'PYTHON'
import json
import sys

inside, outside = (json.load(open(file)) for file in sys.argv[1:])
assert inside["seed"] == outside["seed"]
assert inside["runs"].keys() == outside["runs"].keys()
other = [key for key, hashes in inside["runs"].items() if hashes != outside["runs"][key]]
replicates = sum(len(hashes.split()) for hashes in inside["runs"].values())
print(f"{len(inside['runs'])} runs, {replicates} replicates: {len(other)} runs with other numbers")
sys.exit("\n".join(other) or 0)
PYTHON
