"""Logarithm and exponential: how wrong they are, and that no C library has a part in them."""

import ast
import math
import shutil
import subprocess

import mpmath
import numpy as np
import pytest
from numba import cfunc, config, njit

from fairbandits.engine.elementary import GREATEST, LEAST, exp, log
from fairbandits.settings.schemas import ROOT

SAMPLE = 10_000 if config.DISABLE_JIT else 10_000_000
#: Units in the last place.
BOUND = 0.9


def numbers(rng, size):
    """Return a third of all sizes, a third of whole numbers, which rounds are, and some near 1."""
    first, last = (int(np.float64(end).view(np.int64)) for end in (LEAST, GREATEST))
    of_all_sizes = rng.integers(first, last, size // 3, endpoint=True).view(float)
    whole = rng.integers(1, 2**33, size // 3).astype(float)
    near_one = np.exp(rng.normal(0.0, 0.4, size - 2 * (size // 3)))
    return np.concatenate([of_all_sizes, whole, near_one])


def exponents(rng, size):
    wide = rng.uniform(-708.0, 709.7, size // 2)
    return np.concatenate([wide, rng.normal(0.0, 2.0, size - size // 2)])


def of_each(function):
    """Return the compiled loop that gives the values of a function of one number."""

    @njit(error_model="numpy")
    def values(x):
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = function(x[i])
        return out

    return values


BOTH = pytest.mark.parametrize(
    ("function", "compiled", "arguments"),
    [(log, of_each(log), numbers), (exp, of_each(exp), exponents)],
    ids=["log", "exp"],
)
#: Ends of what is finite, and beyond them.
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, LEAST, GREATEST]
SPECIAL += [709.782712893384, 709.782712893385, -745.13, -745.14, -745.2, -708.5, 2.0**-1074 * 3]


@BOTH
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no numbers of more digits")
def test_error_in_ten_million_numbers(function, compiled, arguments, rng):
    for x in np.array_split(arguments(rng, SAMPLE), 10):
        exact = getattr(np, function.__name__)(x.astype(np.longdouble))
        units = np.abs(compiled(x) - exact) / np.spacing(np.abs(exact).astype(float))
        assert units.max() < BOUND, x[units.argmax()]


@BOTH
def test_error_beside_mpmath(function, compiled, arguments, rng):
    with mpmath.workprec(200):
        for x in arguments(rng, 3000).tolist():
            exact = getattr(mpmath, function.__name__)(x)
            assert abs(function(x) - exact) < BOUND * math.ulp(float(exact)), x


@BOTH
def test_compiled_is_interpreted(function, compiled, arguments, rng):
    x = np.concatenate([arguments(rng, 3000), SPECIAL])
    assert compiled(x).tobytes() == np.array([function(each) for each in x.tolist()]).tobytes()


def test_ends():
    assert [log(x) for x in (1.0, 2.0)] == [0.0, math.log(2.0)]
    assert all(map(math.isnan, map(log, [0.0, -1.0, math.inf, math.nan, 5e-324])))
    assert [exp(x) for x in (0.0, -0.0, -745.14, -math.inf)] == [1.0, 1.0, 0.0, 0.0]
    assert (exp(-745.13), exp(709.782712893385), exp(math.inf)) == (5e-324, math.inf, math.inf)
    assert exp(709.782712893384) < math.inf
    assert math.isnan(exp(math.nan))


#: What prints the values of a function of numbers that it reads.
MAIN = """#include <stdio.h>
double function(double);
int main(void) {
  double x;
  while (fread(&x, sizeof x, 1, stdin) == 1) {
    x = function(x);
    fwrite(&x, sizeof x, 1, stdout);
  }
  return 0;
}
"""


@BOTH
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.skipif(shutil.which("musl-gcc") is None, reason="no musl-gcc on the path")
def test_the_machine_code_gives_the_same_under_musl(function, compiled, arguments, rng, tmp_path):
    native = cfunc("float64(float64)", error_model="numpy")(lambda x: function(x))
    (tmp_path / "function.s").write_text(native._library.get_asm_str())
    (tmp_path / "main.c").write_text(MAIN)
    # what says that Python raised an error is named, and never called
    linked = ["--unresolved-symbols=ignore-all", f"--defsym=function={native.native_name}"]
    command = ["musl-gcc", "-static", "-no-pie", "main.c", "function.s", "-o", "program"]
    command += [f"-Wl,{option}" for option in linked]
    subprocess.run(command, cwd=tmp_path, check=True)
    x = np.concatenate([arguments(rng, 100_000), SPECIAL])
    ran = subprocess.run([tmp_path / "program"], input=x.tobytes(), capture_output=True, check=True)
    assert ran.stdout == compiled(x).tobytes()


#: What is exact or correctly rounded everywhere.
SAME = {"sqrt", "floor", "ceil", "isqrt", "frexp", "isfinite", "ulp"}
#: File -> what it has of the C library: error functions of Squint.
FROM_C = {"policies/learners.py": {"erf", "erfc"}}


@pytest.mark.parametrize("room", ["engine", "policies", "observers"])
def test_nothing_else_is_asked_of_the_c_library(room):
    package = ROOT / "src" / "fairbandits"
    for file in (package / room).glob("*.py"):
        names = {
            node.attr
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("math", "np")
        }
        functions = {name for name in names if callable(getattr(math, name, None))}
        allowed = SAME | FROM_C.get(file.relative_to(package).as_posix(), set())
        assert functions <= allowed, file
