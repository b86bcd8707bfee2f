"""What the README and the page on the library tell to type works as it stands."""

import inspect
import re
from functools import partial
from pathlib import Path

import pytest

import fairbandits as fb
import small
from fairbandits.report.numbers import texts_of

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
(TABLE,) = re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL)
LIBRARY = (ROOT / "docs" / "library.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_examples_run(number, tmp_path, tmp_path_factory, monkeypatch, capsys):
    make = partial(small.write_results, "banditq")
    folder = small.once(tmp_path_factory, "banditq", make)
    (tmp_path / "results").symlink_to(folder / "results")
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"README example {number + 1}", "exec"), {"__name__": "__main__"})
    out = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert any(out)
    if number == 0:
        assert out == TABLE.splitlines()


def test_it_has_few_lines_and_its_numbers_are_those_of_the_tables():
    assert len(README.splitlines()) <= 150
    assert "<!--" not in README
    numbers = texts_of(ROOT / "audit" / "numbers.csv")
    printed, claims = (numbers[f"fair_ucb_{kind}"] for kind in ("printed", "claims"))
    assert f"{printed} of {claims} claims rest on printed words" in README
    wins, cells = (numbers[f"htucb_{kind}"] for kind in ("of_lfg", "cells"))
    assert f"It has less than LFG in {wins} of {cells} comparisons" in README
    assert f"It has {float(numbers['bfucb_of_ucb']):.1f} % of UCB's reward" in README
    alike, repeated, contrary = (
        numbers[f"all_{kind}"] for kind in ("came_again", "repeated", "contradicted")
    )
    assert f"{alike} of {repeated} came again, {contrary} were contradicted" in README


def test_examples_of_the_library_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "library"}
    blocks = re.findall(r"```python\n(.*?)```", LIBRARY, flags=re.DOTALL)
    assert len(blocks) >= 7
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"example {number} of docs/library.md", "exec"), names)
        assert capsys.readouterr().out.strip()
    written = {"comparison.svg", "eta.svg", "first.parquet"}
    assert {path.name for path in tmp_path.iterdir()} == written


def test_the_page_on_the_library_has_all_public_names():
    measures = set(fb.metrics.__all__)
    assert {name for name in measures if f"`{name}`" in LIBRARY} == measures
    instances = {name for name in fb.instances.__all__ if name[0].islower()}
    assert {name for name in instances if f"`{name}(" in LIBRARY} == instances
    methods = {name for name, of in vars(fb.Result).items() if callable(of) and name[0].islower()}
    assert {name for name in methods if re.search(rf"\b{name}\(", LIBRARY)} == methods
    compared = re.sub(r"\s+", " ", LIBRARY)
    signature = ", ".join(inspect.signature(fb.compare).parameters)
    assert f"compare({signature.replace('horizon,', 'horizon, *,')})" in compared


def test_links_lead_somewhere():
    targets = {*re.findall(r"\]\(([^)#]+)\)", README)}
    assert {target for target in targets if "//" in target or (ROOT / target).exists()} == targets
