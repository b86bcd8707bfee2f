"""The page of the library: every public name with its docstring, whole."""

import inspect
import re

import pytest

import fairbandits as fb
import small
from fairbandits.report import library
from small import plain

NAMES = ["compare", "run", "join", "Instance", "metrics.regret", "instances.ht_ucb_c", "FairUCB"]


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_has_the_whole_docstring(name):
    member = fb
    for part in name.split("."):
        member = getattr(member, part)
    shown = plain(library.reference(name)).split()
    docstring = re.sub(r"[`]|^-+$", " ", inspect.getdoc(member), flags=re.MULTILINE)
    left = iter(shown)
    assert [word for word in docstring.split() if word not in left] == []
    assert f"fb.{name}" in shown
    parameters = [key for key in inspect.signature(member).parameters if key != "self"]
    assert all(re.search(rf"\b{key}\b", " ".join(shown)) for key in parameters)


def test_page_shows_every_public_name():
    source = (small.NOTEBOOKS / "library.ipynb").read_text(encoding="utf-8")
    calls = re.findall(r"library\.(reference|module)\((.*)\)", source)
    shown = {name for _, given in calls for name in re.findall(r'\\"([\w.]+)\\"', given)}
    for home in ("policies", "observers"):
        assert f"*sorted(fb.{home}.CLASSES)" in source
        shown |= set(getattr(fb, home).CLASSES)
    shown |= set(fb.metrics.__all__)
    assert set(fb.__all__) - shown == {"contracts", "store"}
    assert {"store.read_table", "store.read_footer"} <= shown
    for contract in fb.contracts.CONTRACTS.values():
        assert f"contracts.{contract.__name__}" in source
    for name in (*fb.policies.CLASSES, *fb.observers.CLASSES, "unit", "store.read_footer"):
        assert f"fb.{name}" in plain(library.reference(name))
