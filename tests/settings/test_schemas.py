"""What could be started is not started again, and YAML is read as it is meant."""

import re
import subprocess
import sys
import time

import pytest
import yaml

from fairbandits.settings.models import Model, Name, validated
from fairbandits.settings.schemas import ConfigError, parse_yaml, read_json, read_yaml

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
    assert [process.stdout for process in said] == ["True\n", "False\n"][: 1 + writable]
    for process in said:
        assert process.stderr.startswith("The cache cannot be used (") is not writable
    assert not any(temporary.iterdir())


def test_merged_mappings_keep_what_is_not_replaced(tmp_path):
    file = tmp_path / "merged.yaml"
    file.write_text("a: &a {x: 1, y: {z: 1}}\nb: &b {<<: *a, x: 2}\nc: {<<: [*b, *a], w: 3}\n")
    assert read_yaml(file) == {
        "a": {"x": 1, "y": {"z": 1}},
        "b": {"x": 2, "y": {"z": 1}},
        "c": {"x": 2, "y": {"z": 1}, "w": 3},
    }


def doubled(first, more, n=40):
    return "\n".join([f"a0: &a0 {first}", *(f"a{k}: &a{k} {more(k - 1)}" for k in range(1, n))])


OUTSIZED = {
    "brackets": ("[" * 1_000_000, "is nested deeper than 100 levels, in line 1"),
    "braces": ("{a: " * 1_000_000, "is nested deeper than 100 levels, in line 1"),
    "dashes": ("a:\n" + "- " * 1_000_000, "is nested deeper than 100 levels, in line 2"),
    "keys": ("? " * 1_000_000, "is nested deeper than 100 levels, in line 1"),
    "chain": (doubled("[1]", lambda k: f"[*a{k}]", 1000), "deeper than 100 levels, in line 100"),
    "laughs": (doubled("[1]", lambda k: f"[*a{k}, *a{k}]"), "becomes too large in line 14; with"),
    "merged": (doubled("{b: 1}", lambda k: f"{{<<: *a{k}, c: *a{k}}}"), "too large in line 13;"),
    "texts": (doubled("x" * 9_000, lambda k: f"[{'*a0, ' * 2_000}]", 2), "too large in line 2;"),
    "values": ("- 1\n" * 2_000_000, "becomes too large in line 39840; with all aliases, 10"),
    "claims": ("".join(f"c{k}: {{statement: s, tests: [1, 2, 3]}}\n" for k in range(80_000)), "be"),
    "bytes": ("# comment\n" * 1_000_001, "cannot be read: it has more than 10000000 bytes"),
}


@pytest.mark.parametrize("kind", OUTSIZED)
def test_files_without_bounds_are_refused_within_seconds(kind, tmp_path):
    text, message = OUTSIZED[kind]
    (file := tmp_path / "outsized.yaml").write_text(text)
    begun = time.process_time()
    with pytest.raises(ConfigError, match=f"^{re.escape(str(file))} ") as error:
        read_yaml(file)
    assert message in str(error.value)
    assert time.process_time() - begun < 10


#: Text of a file, and what is said after its name.
WRONG = [
    ("seed: [1", "is not valid YAML"),
    ("seed: 1: 2", "is not valid YAML"),
    ("a: =", "is not valid YAML: could not determine a constructor"),
    ("a: \0", "is not valid YAML: "),
    ("a: 1\nc: {<<: 1}\n", "is not valid YAML"),
    ("seed: 2026-13-45", "is not valid YAML: month must be in 1..12"),
    ("a: !!python/object:os.system {}", "has a tag, 'tag:yaml.org,2002:python/object:os.system',"),
    ("a: !!int x", "has a tag, 'tag:yaml.org,2002:int', in line 1; settings have none"),
    ("a: ! 1", "has a tag, '!', in line 1"),
    ("{[1]: 2}", "has a key that is no text or number, in line 1"),
    ("seed: 1\nscale: paper\nseed: 2\n", "has key 'seed' twice, again in line 3"),
    ("a: &a {b: 1}\nc:\n  <<: *a\n  d: 1\n  d: 2\n", "has key 'd' twice, again in line 5"),
    ("a: &a {b: 1}\nc:\n  <<: *a\n  <<: *a\n", "has key '<<' twice, again in line 4"),
    ("yes: 1\ntrue: 2\n", "has key 'true' twice, again in line 2"),
    ("1: 1\n2: 2\n1.0: 3\n", "has key '1.0' twice, again in line 3"),
    ("a: &a {b: 1, b: 2}\nc: {<<: *a}\n", "has key 'b' twice, again in line 1"),
    ("a: 1\nseed: &a [1, *a]\n", "has an alias of what it stands in, in line 2"),
    ("seed: 010\n", "has 010 in line 1, which YAML takes for another number"),
    ("seed: 1:30\n", "has 1:30 in line 1, which YAML takes for another number"),
    (f"a: 1\nseed: 1{'0' * 400}\n", "has a number of more than 300 digits in line 2"),
    *((f"a: 1e{power}", "has a number of more than 300") for power in (400, -99999, "9" * 5000)),
    (f"seed: {'[' * 100}{']' * 100}", "is nested deeper than 100 levels, in line 1"),
    ("", "must hold keys and values, got NoneType"),
    ("- seed", "must hold keys and values, got list"),
    (b"seed: \xff", "cannot be read: "),
    (None, "does not exist"),
]


@pytest.mark.parametrize(("content", "message"), WRONG, ids=[f"{row[0]!r:.40}" for row in WRONG])
def test_file_that_is_no_configuration(content, message, tmp_path):
    file = tmp_path / "wrong.yaml"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError, match=rf"^{re.escape(f'{file} {message}')}[^\n]*$"):
        read_yaml(file)


def test_what_settings_need_not_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"^here is not valid YAML: "):
        parse_yaml("a: \ud800", "here")
    with pytest.raises(ConfigError, match=f"^{tmp_path} cannot be read: "):
        read_yaml(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 1_000_000, "it is nested too deeply"),
        ("1" * 5_000, "Exceeds the limit"),
        (" " * 10_000_001, "it has more than 10000000 bytes"),
    ],
)
def test_json_without_bounds_is_refused(content, message, tmp_path):
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_json(tmp_path / "plan.json")


NUMBERS = {
    **{"1e3": 1000, "1E3": 1000, "1.5e3": 1500, "1.0e+3": 1000, "+2e2": 200, "-1_0e2": -1000},
    **{".5e1": 5, "100e-2": 1, "1e-2": 0.01, "1.5e0": 1.5, ".5": 0.5, "1_000": 1000, "0x10": 16},
    **{"1e300": 1e300, "'1e3'": "1e3", "1e": "1e", "1e3x": "1e3x", "0x1e3": 0x1E3},
}


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_read_in_every_notation_and_written_so_that_they_come_back(text):
    for written in (f"a: {text}", yaml.safe_dump({"a": NUMBERS[text]})):
        number = parse_yaml(written, "here")["a"]
        assert (number, type(number)) == (NUMBERS[text], type(NUMBERS[text]))


class Named(Model):
    names: dict[Name, int] = {}  # noqa: RUF012
    title: str = ""


@pytest.mark.parametrize(
    ("text", "given"),
    [("names: {no: 1}", "False"), ("names: {1e3: 1}", "1000"), ("title: off", "False")],
)
def test_words_that_yaml_reads_as_something_else_ask_for_quotes(text, given):
    with pytest.raises(ConfigError, match=f"got {given}; YAML does not read this as text: write"):
        validated(parse_yaml(text, "here"), Named, "here")
