"""Kernels of notebooks that are forks of the process that executes them.

A fork need not import again what this process has imported, which takes seconds. It is made before
anything else begins, since no event loop or socket may be shared, and waits until it is told which
kernel to be.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jupyter_client import AsyncKernelManager

from fairbandits.library.running import _forking

#: The kernel that can be forked.
LAUNCHER = "ipykernel_launcher"


@contextmanager
def forked() -> Iterator[type[AsyncKernelManager]]:
    """Yield the class that nbclient makes a notebook's kernel with."""
    process = _Fork()

    class Manager(AsyncKernelManager):
        """Makes a waiting fork the kernel; kernels of other languages start as usual."""

        async def _async_launch_kernel(self, kernel_cmd: list[str], **kw: Any) -> None:
            if LAUNCHER not in kernel_cmd:
                await super()._async_launch_kernel(kernel_cmd, **kw)
                return
            arguments = kernel_cmd[kernel_cmd.index(LAUNCHER) + 1 :]
            process.begin(arguments, kw.get("cwd") or os.getcwd(), kw["env"])
            self.provisioner.process, self.provisioner.pid = process, process.pid
            self._reconcile_connection_info(self.provisioner.connection_info)

    try:
        yield Manager
    finally:
        process.kill()
        process.wait()


class _Fork:
    """A fork that waits to be a kernel, with the interface of `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        reading, self._writing = os.pipe()
        self.returncode: int | None = None
        with _forking():
            self.pid = os.fork()
        if not self.pid:
            os.close(self._writing)
            _wait_and_be(reading)
        os.close(reading)

    def begin(self, arguments: list[str], cwd: str, environ: dict[str, str]) -> None:
        """Make the fork the kernel with these arguments."""
        words = {"arguments": arguments, "cwd": str(cwd), "environ": environ}
        with open(self._writing, "w", encoding="utf-8") as pipe:
            json.dump(words, pipe)

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self._waited(os.WNOHANG)

    def wait(self) -> int | None:
        """Wait for its end."""
        return self._waited(0)

    def _waited(self, how: int) -> int | None:
        if self.returncode is None:
            process, status = os.waitpid(self.pid, how)
            if process:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def _wait_and_be(reading: int) -> None:
    """Become the kernel that is asked for, or exit if none is."""
    try:
        with open(reading, encoding="utf-8") as pipe:
            text = pipe.read()
        if text:
            _be(**json.loads(text))
    finally:
        os._exit(0)


def _be(arguments: list[str], cwd: str, environ: dict[str, str]) -> None:
    from ipykernel.kernelapp import IPKernelApp

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    os.environ["JPY_PARENT_PID"] = str(os.getppid())  # it ends with the process that reads it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kernel = IPKernelApp.instance()
    kernel.initialize(arguments)
    if "matplotlib.pyplot" in sys.modules:  # which asks the environment when it is imported
        from matplotlib import pyplot, rc_file_defaults, rcParams

        pyplot.close("all")  # the kernel would show them with its own
        rc_file_defaults()
        rcParams["backend"] = os.environ["MPLBACKEND"]
        pyplot.switch_backend(rcParams["backend"])
    kernel.start()
