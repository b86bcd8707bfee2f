"""Matplotlib as a user may have set it: no picture of ours follows it, nor changes it."""

import warnings
from contextlib import contextmanager

import matplotlib as mpl

#: Settings that are no matter of pictures, or cannot be changed twice.
LEFT = {"backend", "date.epoch"}
TRIED = [
    *("red", "0.4", "serif", "stix", "top", "right", "center", "dashed", "round_numbers", "tight"),
    *("svg", "both", "major", "x", "bevel", "butt", "in", "path", "lower", "it", "--", "inside"),
    *("line", "round", "polyline", "zero", "equal", "auto", "none", "native", "full", "MO"),
    *((2, 3), (1, 100, 2), [7.5], 42, 7.5, mpl.cycler("color", ["r", "g"])),
]


def settings():
    """Return another value for almost every setting."""
    found = {}
    for name, usual in mpl.rcParamsDefault.items():
        numbers = isinstance(usual, int | float)
        first = [not usual] if isinstance(usual, bool) else [2 * usual + 1] if numbers else []
        for value in [*first, *TRIED] if name not in LEFT else ():
            with warnings.catch_warnings(), mpl.rc_context():
                warnings.simplefilter("ignore")
                try:
                    mpl.rcParams[name] = value
                except Exception:  # each setting has its own
                    continue
                if mpl.rcParams[name] != usual:
                    found[name] = mpl.rcParams[name]
                    break
    return found


@contextmanager
def set_otherwise():
    """Change almost all settings, and fail where they are others in the end."""
    with warnings.catch_warnings(), mpl.rc_context():
        warnings.simplefilter("ignore", mpl.MatplotlibDeprecationWarning)
        mpl.rcParams.update(settings())
        before = dict(mpl.rcParams.copy())
        assert before["text.usetex"]
        assert before["axes.grid"]
        yield
        now = dict(mpl.rcParams.copy())
        assert {name: now[name] for name in now if now[name] != before[name]} == {}
