"""What was found right is not checked again; what is wrong always is."""

import subprocess
import sys

import pytest

from fairbandits.settings import schemas
from fairbandits.settings.schemas import ConfigError, check, read_yaml

CONFIG = {"seed": 1, "scale": "paper", "papers": ["banditq"]}
CONFIG |= {"pathvars": dict.fromkeys(("results", "figures", "logs", "benchmarks"), "x")}


@pytest.fixture
def asked(monkeypatch):
    """Return the contents that were really checked, in a process that remembers nothing."""
    seen = []
    validator = schemas._validator

    def noting(schema):
        seen.append(schema)
        return validator(schema)

    known = set()
    monkeypatch.setattr(schemas, "_validator", noting)
    monkeypatch.setattr(schemas, "found_right", lambda: known)
    return seen


def test_what_was_found_right_is_not_checked_again(asked):
    for _ in range(3):
        check(CONFIG, "config", "here")
    assert asked == ["config"]
    check(CONFIG | {"seed": 2}, "config", "here")
    assert asked == ["config"] * 2


@pytest.mark.parametrize("seed", [True, 1.0, "1", -1])
def test_what_is_wrong_is_refused_each_time_beside_what_is_right(seed, asked):
    check(CONFIG, "config", "here")
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"^here: seed: "):
            check(CONFIG | {"seed": seed}, "config", "here")


def test_the_same_content_can_be_wrong_by_another_schema(asked):
    check(CONFIG, "config", "here")
    with pytest.raises(ConfigError):
        check(CONFIG, "paper", "here")


CODE = """
from fairbandits.settings import schemas
schemas.check({}, "policies/uniform", "here")
import sys
print("jsonschema" in sys.modules)
"""


@pytest.mark.parametrize("writable", [True, False])
def test_later_processes_remember(writable, tmp_path, monkeypatch):
    if not writable:
        (tmp_path / "file").write_text("")
    folder = tmp_path / ("cache" if writable else "file/below")
    monkeypatch.setenv("FAIRBANDITS_CACHE_DIR", str(folder))
    said = [
        subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [one.stdout.strip() for one in said] == ["True", "False" if writable else "True"]
    assert [one.stderr.startswith("The cache cannot be used (") for one in said] == [
        not writable
    ] * 2


def test_another_schema_forgets(tmp_path, monkeypatch):
    before = schemas._schemas()
    (tmp_path / "config.schema.yaml").write_text("type: object")
    monkeypatch.setattr(schemas, "SCHEMAS", tmp_path)
    assert schemas._schemas() != before


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
