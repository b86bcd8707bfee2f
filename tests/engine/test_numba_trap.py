"""A loop that Numba compiles wrongly, and a watch that no kernel is written that way.

Seen with every Numba from 0.61 to 0.68: in a ``while True`` loop that assigns a variable just
before ``break`` and again at the end of its body, the compiled code keeps the older value.
"""

import ast
import inspect

import pytest
from numba import config, njit

from fairbandits.data import provenance

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


def trapped(n):
    x = 0
    k = 0
    while True:
        y = x + 1
        k += 1
        if y >= n or k > 50:
            x = y
            break
        x = y
    return 1000 * x + k


def assigned_once(n):
    x = 0
    k = 0
    while True:
        x = x + 1
        k += 1
        if x >= n or k > 50:
            break
    return 1000 * x + k


@compiled_only
def test_the_trap_is_still_there():
    """When this fails, Numba has been mended: the scan below can go, and so can this file."""
    assert trapped(5) == assigned_once(5) == njit(assigned_once)(5) == 5005
    assert njit(trapped)(5) == 1051


def risky_loops(source):
    """Return the first lines of the loops that are written like `trapped`."""
    loops = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.While))
    return [
        loop.lineno
        for loop in loops
        if isinstance(loop.test, ast.Constant)
        for node in ast.walk(loop)
        if isinstance(node, ast.stmt)
        for block in (getattr(node, "body", []), getattr(node, "orelse", []))
        for at, end in enumerate(block)
        if isinstance(end, ast.Break)
        if stored(block[:at]) & stored(loop.body, after=end.lineno)
    ]


def stored(statements, after=0):
    nodes = (node for statement in statements for node in ast.walk(statement))
    names = (node for node in nodes if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store) and node.lineno > after}


def test_no_kernel_is_written_like_the_trap():
    risky = {
        f"{path.relative_to(provenance.PACKAGE)}:{line}"
        for part in provenance.COMPILED
        for path in (provenance.PACKAGE / part).rglob("*.py")
        for line in risky_loops(path.read_text(encoding="utf-8"))
    }
    assert risky == set()


def test_the_scan_finds_the_trap_and_only_the_trap():
    assert risky_loops(inspect.getsource(trapped)) == [4]
    assert risky_loops(inspect.getsource(assigned_once)) == []
