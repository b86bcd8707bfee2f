"""What could be started is not started again, and YAML is read as it is meant."""

import subprocess
import sys

import pytest
import yaml

from fairbandits.settings.models import Model, Name, validated
from fairbandits.settings.schemas import ConfigError, parse_yaml, read_yaml

CODE = """
import sys
from fairbandits.settings.experiments import check_start
check_start("uniform", {}, [], 2, 10, "here")
print("numba" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.parametrize("writable", [True, False])
def test_later_processes_remember(writable, tmp_path, monkeypatch):
    if not writable:
        (tmp_path / "file").write_text("")
    folder = tmp_path / ("cache" if writable else "file/below")
    monkeypatch.setenv("FAIRBANDITS_CACHE_DIR", str(folder))
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    said = [
        subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
        for _ in range(1 + writable)
    ]
    assert [one.stdout.strip() for one in said] == ["True", "False"][: 1 + writable]
    for one in said:
        assert one.stderr.startswith("The cache cannot be used (") is not writable
    assert not any(temporary.iterdir())


def test_merged_mappings_keep_what_is_not_replaced(tmp_path):
    file = tmp_path / "merged.yaml"
    file.write_text("a: &a {x: 1, y: {z: 1}}\nb: &b {<<: *a, x: 2}\nc: {<<: [*b, *a], w: 3}\n")
    assert read_yaml(file) == {
        "a": {"x": 1, "y": {"z": 1}},
        "b": {"x": 2, "y": {"z": 1}},
        "c": {"x": 2, "y": {"z": 1}, "w": 3},
    }


def test_aliases_of_aliases_take_no_time(tmp_path):
    lines = ["a0: &a0 [1]", *(f"a{k + 1}: &a{k + 1} [*a{k}, *a{k}]" for k in range(40))]
    (tmp_path / "deep.yaml").write_text("\n".join(lines))
    assert len(read_yaml(tmp_path / "deep.yaml")) == 41


NUMBERS = {
    "1e3": 1000,
    "1E3": 1000,
    "1.5e3": 1500,
    "1.0e+3": 1000,
    "+2e2": 200,
    "-1_0e2": -1000,
    ".5e1": 5,
    "100e-2": 1,
    "1e-2": 0.01,
    "1.5e0": 1.5,
    ".5": 0.5,
    "1_000": 1000,
    "0x10": 16,
    "1e300": 1e300,
    "'1e3'": "1e3",
    "1e": "1e",
    "1e3x": "1e3x",
    "0x1e3": 0x1E3,
}


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_read_in_every_notation_and_written_so_that_they_come_back(text):
    for written in (f"a: {text}", yaml.safe_dump({"a": NUMBERS[text]})):
        found = parse_yaml(written, "here")["a"]
        assert (found, type(found)) == (NUMBERS[text], type(NUMBERS[text]))


@pytest.mark.parametrize("text", ["1e400", "1e-99999", f"1e{'9' * 5000}"])
def test_numbers_without_end_are_refused_with_their_line(text):
    with pytest.raises(ConfigError, match=r"here (has a number of more|is not valid YAML)"):
        parse_yaml(f"a: {text}", "here")


class Named(Model):
    """A block with names."""

    names: dict[Name, int] = {}  # noqa: RUF012
    title: str = ""


@pytest.mark.parametrize(
    ("text", "given"),
    [("names: {no: 1}", "False"), ("names: {1e3: 1}", "1000"), ("title: off", "False")],
)
def test_words_that_yaml_reads_as_something_else_ask_for_quotes(text, given):
    with pytest.raises(ConfigError, match=f"got {given}; YAML does not read this as text: write"):
        validated(parse_yaml(text, "here"), Named, "here")
