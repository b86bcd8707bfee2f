"""Run commands in which each call to the system fails in turn; `failing_io.c` is loaded before.

    LD_PRELOAD=failing_io.so python failing_io.py FOLDER EVERY COMMAND ...

In FOLDER each COMMAND, a line of words, is run whole, and then with every EVERY-th of its calls
failing, as if the disk were full, broken or closed in turn. After each of these all files of the
folder are whole, old or new, and the command run again makes the same. It prints what is not so,
and at last how often it tried.
"""

import ctypes
import errno
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from fairbandits.cli.main import main

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
LIBRARY = ctypes.CDLL(None)
EARLIER = b"what an earlier run has made"


def run(folder, line, call=0, error=0):
    """Return exit code and messages of a command in a process of its own."""
    with tempfile.TemporaryFile() as said:
        if not (child := os.fork()):
            for stream in (1, 2):
                os.dup2(said.fileno(), stream)
            LIBRARY.fail_at(str(folder).encode(), call, error)
            code = 1
            try:
                main(line.split())
            except SystemExit as ended:
                code = ended.code or 0
            except BaseException as raised:
                print(f"not caught: {raised!r}", file=sys.stderr)
            sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        return code, said.read().decode()


def files(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def restore(folder, content):
    for file in files(folder).keys() - content.keys():
        file.unlink()
    for file, body in content.items():
        file.write_bytes(body)


def problems(folder, line, before, made, call, error):
    """Yield what is wrong after a command of which one call failed, and after it was run again."""
    code, said = run(folder, line, call, error)
    now = files(folder)
    for file in now.keys() | made.keys():
        if now.get(file) not in (made.get(file), before.get(file)):
            yield f"{file} is {'gone' if file not in now else 'neither old nor new'}"
    if now.keys() - made.keys() - before.keys() or (code == 0 and now != made):
        yield f"the files {sorted(now.keys() ^ made.keys())} are missing or left over"
    (*_, last) = said.strip().splitlines() or [""]
    names = [str(folder), "results", *(Path(word).name for word in line.split() if "." in word)]
    if code and not (last.startswith("Error: ") and any(name in last for name in names)):
        yield f"exit code {code}, and the message names no file: {last}"
    code, said = run(folder, line)
    if code or files(folder) != made:
        yield f"run again it ends with {code} and other files: {said}"


def campaign(folder, every, lines):
    tries = 0
    for line in lines:
        inputs = files(folder)
        os.chdir(folder)
        LIBRARY.fail_at(str(folder).encode(), 0, 0)
        with redirect_stdout(sys.stderr):  # here, so that all is imported once
            main(line.split(), standalone_mode=False)
        calls, made = LIBRARY.calls(), files(folder)
        assert made != inputs
        earlier = inputs | dict.fromkeys(made.keys() - inputs.keys(), EARLIER)
        for call in range(1, calls + 1, every):
            error, before = ERRORS[call % len(ERRORS)], earlier if call % 2 else inputs
            restore(folder, before)
            tries += 1
            for words in problems(folder, line, before, made, call, error):
                print(f"{line}, call {call} of {calls}, {errno.errorcode[error]}: {words}")
        restore(folder, made)
    print(tries)


if __name__ == "__main__":
    campaign(Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3:])
