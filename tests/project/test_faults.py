"""Hostile settings, commands and calls; and the page of faults, whose tests are there."""

import functools
import json
import math
import re
from collections import Counter, defaultdict

import pytest
import yaml

import faults_page
import shrunk
from commands import invoke
from fairbandits.data.store import StoreError, read_table, replacing, table_hash
from fairbandits.settings.config import load_config
from fairbandits.settings.schemas import ROOT, ConfigError

SEED = 20240731
#: Settings replaced in each paper, and bits flipped.
TRIES, FLIPS = 40, 400


def test_the_page_follows_from_the_file_and_its_tests_are_there():
    sources = "\n".join(file.read_text(encoding="utf-8") for file in ROOT.glob("tests/*/test_*.py"))
    defined = set(re.findall(r"^def (test_\w+)\(", sources, re.MULTILINE))
    assert faults_page.names() <= defined
    page = faults_page.PAGE.read_text(encoding="utf-8")
    ran = re.findall(r"`(test_\w+)` (\d+)(?:, \*\*(\d+) failed)?", page)
    outcomes = {name: Counter(tries=int(count), failed=int(two or 0)) for name, count, two in ran}
    assert faults_page.page(defaultdict(Counter, outcomes)) == page, "run `make faults`"


#: In place of a setting.
ANYTHING = [
    *(None, True, -1, 0, 10**18, 2**70, 1e300, -1e300, 1e-320, math.nan, math.inf),
    *("", "x", "x\n", "<script>", "../x", "1/0", "1e400", "∞", [], [[]], {}, {"value": None}),
]


@functools.cache
def _papers():
    return sorted(path.parent.name for path in ROOT.glob("papers/*/experiments.yaml"))


def places(tree, above=()):
    """Yield the place of each value in a tree that is no tree itself."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        if isinstance(value, dict | list) and value:
            yield from places(value, (*above, key))
        elif key not in ("source", "provenance", "description"):
            yield (*above, key)


@pytest.mark.campaign
@pytest.mark.parametrize("paper", _papers())
def test_any_setting_replaced_by_anything(paper, tmp_path, rng, record_property):
    file = tmp_path / "papers" / paper / "experiments.yaml"
    file.parent.mkdir(parents=True)
    text = json.dumps(yaml.safe_load((ROOT / file.relative_to(tmp_path)).read_text()))
    (tmp_path / "config.yaml").write_text(
        yaml.safe_dump(shrunk.settings([paper], SEED, tmp_path, replicates=1, horizon=100))
    )
    known = list(places(json.loads(text)))
    for _ in range(TRIES):
        tree = node = json.loads(text)
        *above, last = known[rng.integers(len(known))]
        for key in above:
            node = node[key]
        node[last] = ANYTHING[rng.integers(len(ANYTHING))]
        file.write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")
        said = "papers/"
        try:
            assert load_config([tmp_path / "config.yaml"], root=tmp_path).runs
        except ConfigError as error:
            said = str(error)
        assert "\n" not in said
        assert "papers" in said
    record_property("tries", TRIES)


DRAWN = "--png x --table x"
COMMANDS = [
    *("simulate {}", "simulate FOLDER", "simulate FILE --run", "simulate --block {}"),
    *("collect {}", "collect FOLDER", "collect --experiment {}"),
    *(f"figure banditq fig1 {file} --svg x {DRAWN}" for file in ("FOLDER", "FILE", "")),
    f"figure banditq fig1 FILE --svg FOLDER {DRAWN}",
    "replay banditq-uai2024 --arms 5 --feedback full --rounds 0 --out x",
    "replay banditq-uai2024 --arms 5 --feedback full --published FOLDER --out x",
    *("verify --lock FOLDER", "verify --sample -1", "verify --config FOLDER"),
    *("lock --config FILE", "lock --out FOLDER"),
    *("audit banditq --seed -1", "audit banditq --results FILE"),
    *("verdicts", "verdicts FILE --joint x --out x", "record FILE FILE FILE"),
    *("notebook FILE x", "notebook FOLDER x"),
    *("site FILE --figures FILE --out x", "site FILE --figures FOLDER --out FILE"),
    *("fetch nowhere", "replicate --cores 0", "nothing"),
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_refuse_in_words(line, tmp_path, monkeypatch):
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "FILE").write_text("no table")
    monkeypatch.chdir(tmp_path)
    done = invoke(*line.split())
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in (1, 2)
    said = done.stderr.strip().splitlines()[-1]
    assert re.match(r"Error: \S", said)
    assert "delete" not in said or "FOLDER" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["FILE", "FOLDER"]
    assert (tmp_path / "FILE").read_text() == "no table"


def test_a_full_disk_is_told_with_the_file(tmp_path):
    file = tmp_path / "out.parquet"
    says = "[Errno 28] Error writing bytes to file. Detail: No space left on device"
    with pytest.raises(OSError, match="No space left") as error, replacing(file):
        raise OSError(says)
    assert str(error.value).startswith(f"{file} could not be written, and is as it was: [Errno 28]")
    with pytest.raises(FileNotFoundError) as error, replacing(file):
        (tmp_path / "none").read_text()
    assert error.value.filename == str(tmp_path / "none")


@pytest.mark.campaign
def test_flipped_bits_of_results_are_found(tmp_path, rng, record_property):
    """Anywhere in a dataset: it is refused, or its rows are the same."""
    file = shrunk.dataset_of(shrunk.experiment_of("banditq", "oracle_lfg", SEED), tmp_path, SEED)
    content, wanted = file.read_bytes(), table_hash(read_table(file))
    said = []
    for at in rng.choice(len(content), FLIPS, replace=False):
        spoilt = bytearray(content)
        spoilt[at] ^= 1 << int(rng.integers(8))
        file.write_bytes(spoilt)
        try:
            assert table_hash(read_table(file)) == wanted
        except StoreError as error:
            said.append(str(error))
    assert all(str(file) in message for message in said)
    assert len(said) > FLIPS / 2
    record_property("tries", FLIPS)
