"""A finished run as one file, its record, and the results out of it: all verified, or none."""

import json
import shutil
import stat
import subprocess
import tracemalloc
import zipfile
from base64 import urlsafe_b64encode
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
import rocrate
import yaml
from rocrate_validator.models import Severity, ValidationSettings
from rocrate_validator.services import validate_metadata_as_dict
from rocrate_validator.utils.http import HttpRequester

import shrunk
from fairbandits.data.store import StoreError
from fairbandits.replication.datasets import collect
from fairbandits.replication.lock import read_lock
from fairbandits.replication.simulate import write_chunk
from fairbandits.replication.verify import write_lock
from fairbandits.report import archive, crate, manifest
from fairbandits.report.archive import fetch, write_archive
from fairbandits.report.crate import CRATE, LONGEST, RECORDS, WORKFLOW
from fairbandits.settings.config import build_config

pytestmark = pytest.mark.slow

#: One experiment with either feedback, whose datasets share a column of plays.
EXPERIMENT = shrunk.experiment(
    title="Two arms",
    horizon=shrunk.sourced(20),
    replicates=shrunk.sourced(2),
    means=shrunk.sourced([0.9, 0.6]),
    quotas=None,
    checkpoints={"linear": 4, "log": 2},
    policies={
        "ucb1": shrunk.policy("ucb1"),
        "banditq": shrunk.policy("banditq", targets=[0.1, 0.2], feedback="full"),
    },
)
PAPER = {"paper": "toy", "title": "Toy", "experiments": {"two_arms": EXPERIMENT}}
DATA, LIST = "results/toy/two_arms.parquet", f"results/{manifest.MANIFEST}"


def config_in(root):
    settings = {"seed": 20261122, "scale": "paper", "papers": ["toy"]}
    folders = {name: str(root / name) for name in ("results", "figures", "audit", "logs")}
    folders["benchmarks"] = str(root / "logs" / "benchmarks")
    return build_config(settings | {"pathvars": folders}, "test", root)


def recorded(root, rule, command, reads, makes, begin, end, **more):
    """Write what Snakemake records of a job, a file for each that it made."""
    record = {"rule": rule, "shellcmd": command, "input": reads}
    record |= {"endtime": end, "incomplete": False} | more
    for k, name in enumerate(makes):
        record["starttime"] = begin + 1e-4 * k
        code = urlsafe_b64encode(name.encode()).decode()
        parts = [code[k : k + LONGEST] for k in range(0, len(code), LONGEST)]
        file = root.joinpath(RECORDS, *(f"@{part}" for part in parts[:-1]), parts[-1])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record), encoding="utf-8")


def git(root, *arguments):
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder of a project of one experiment after a whole run."""
    root = tmp_path_factory.mktemp("finished")
    files = {
        WORKFLOW: "rule all:\n",
        "uv.lock": "version = 1\n",
        "config/config.yaml": "papers: [toy]\n",
        "papers/toy/experiments.yaml": yaml.safe_dump(PAPER),
        "src/some code.py": "x = 1\n",
    }
    untracked = {"results/site/index.html": "<html></html>\n", "results/cache/a.txt": "a\n"}
    for name, text in (files | untracked).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    git(root, "init", "--quiet")
    config = config_in(root)
    (experiment,) = config.experiments
    results = root / "results"
    chunks = [results / run.chunk_file(run.chunks()[0]) for run in experiment.runs]
    for run, file in zip(experiment.runs, chunks, strict=True):
        write_chunk(run.spec, config.seed, range(run.replicates), file, compiled=False)
    collect(chunks, experiment.facts(), config.seed, results / experiment.dataset)
    (root / "figures").mkdir()
    (root / "figures" / "one.svg").write_text("<svg></svg>\n")
    # by hand, since the paper is none of ours
    outputs = {name: root / name for name in ("figures/one.svg", "results/site/index.html", DATA)}
    lines = (f"{digest}  {name}\n" for name, digest in manifest.hashes_of(outputs).items())
    (results / manifest.MANIFEST).write_text("".join(lines))
    committed = manifest.hashes_of(manifest.committed_files(manifest.folders_of(config)))
    write_lock(config, committed, root / "results.lock")
    names = [file.relative_to(root).as_posix() for file in chunks]
    recorded(root, "simulate_toy", "fairbandits simulate plan", [], names, 100, 110)
    recorded(root, "collect_toy", "fairbandits collect plan", names, [DATA], 111, 112)
    recorded(root, "site", "fairbandits site a", [DATA], ["results/site/index.html"], 113, 114)
    recorded(root, "figure", "fairbandits figure", [], ["results/of_another_run.parquet"], 1, 9)
    git(root, "add", *files, "results.lock", "figures/one.svg")
    return root


@pytest.fixture(scope="module")
def made(finished, tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "run.zip"
    written, root = write_archive(config_in(finished), out, finished, agent="A. Person")
    assert (written, len(root)) == (10, 64)
    return out


@pytest.fixture
def elsewhere(finished, tmp_path):
    """Return the configuration of the same project in a folder without results."""
    results = str(tmp_path / "elsewhere" / "results")
    return replace(config_in(finished), folders={"results": results})


def fetched(file, config, finished, root=None):
    return fetch(file, config, read_lock(finished / "results.lock"), root)


@pytest.fixture
def refused(elsewhere, finished):
    """Return what sees that an archive is refused with its name, and leaves nothing behind."""

    def refused(file, message):
        with pytest.raises(StoreError, match=message) as error:
            fetched(file, elsewhere, finished)
        assert str(file) in str(error.value)
        folder = Path(elsewhere.folders["results"]).parent
        assert not folder.exists() or list(folder.iterdir()) == []

    return refused


def names_in(file):
    with zipfile.ZipFile(file) as packed:
        return set(packed.namelist())


def entry_of(file, name):
    with zipfile.ZipFile(file) as packed:
        return packed.getinfo(name)


def record_of(file):
    with zipfile.ZipFile(file) as packed:
        return json.loads(packed.read(CRATE))


def changed(made, out, change):
    """Copy an archive with other content, `change` being applied to {name: bytes}."""
    with zipfile.ZipFile(made) as source:
        files = {name: source.read(name) for name in source.namelist()}
    change(files)
    with zipfile.ZipFile(out, "w") as target:
        for name, content in files.items():
            target.writestr(name, content)
    return out


def as_listed(files, name, content, size=None):
    """Put a file into an archive together with its hash, and its size or what is said of that."""
    graph = json.loads(files[CRATE])
    entry = {"@id": name, "contentSize": str(len(content) if size is None else size)}
    entry["sha256"] = sha256(content).hexdigest()
    by_id = {entity["@id"]: entity for entity in graph["@graph"]}
    if name not in by_id:
        graph["@graph"].append(by_id.setdefault(name, {}))
        by_id["./"]["hasPart"].append({"@id": name})
    by_id[name].update(entry)
    files |= {name: content, CRATE: json.dumps(graph).encode()}


def test_results_come_back_as_they_were(finished, made, elsewhere):
    root = manifest.read_manifest(finished / "results" / manifest.MANIFEST).root
    folder = Path(elsewhere.folders["results"])
    assert fetched(made, elsewhere, finished) == [
        f"{folder}: 3 files",
        "2 datasets, figures and short tables agree with results.lock",
        "1 other tables, pages and notebooks are as its manifest says, which its root alone "
        f"vouches for: {root}; compare it with the author's",
    ]
    assert sorted(path.name for path in folder.parent.iterdir()) == ["results"]
    for name in ("toy/two_arms.parquet", "site/index.html"):
        assert (folder / name).read_bytes() == (finished / "results" / name).read_bytes()
    assert len({path.stat().st_mtime for path in folder.rglob("*") if path.is_file()}) == 1
    code = {WORKFLOW, "uv.lock", "results.lock", "src/some code.py", "config/config.yaml"}
    code |= {"papers/toy/experiments.yaml", "results/site/index.html", "figures/one.svg"}
    assert names_in(made) == code | {CRATE, DATA, LIST}


def test_a_file_that_was_deleted_since_the_commit_is_left_out(finished, tmp_path):
    root = shutil.copytree(finished, tmp_path / "copy")
    (root / "src" / "some code.py").unlink()
    write_archive(config_in(root), tmp_path / "run.zip", root)
    assert {"src/some code.py", WORKFLOW} & names_in(tmp_path / "run.zip") == {WORKFLOW}


def test_the_record_says_of_each_file_which_job_made_it_of_what(made):
    listed = record_of(made)["@graph"]
    graph = {entity["@id"]: entity for entity in listed}
    assert len(graph) == len(listed)
    actions = [entity for key, entity in graph.items() if key.startswith("#job/")]
    assert [action["name"] for action in actions] == ["simulate_toy", "collect_toy", "site"]
    jobs = {action["name"]: action for action in actions}
    collect = jobs["collect_toy"]
    assert collect["description"] == "fairbandits collect plan"
    assert graph[collect["instrument"]["@id"]]["softwareRequirements"] == {"@id": "uv.lock"}
    assert collect["result"] == {"@id": DATA}
    assert jobs["site"]["object"] == {"@id": DATA}
    # chunks are not in the archive, and lead from one job to the next all the same
    chunks = jobs["simulate_toy"]["result"]
    assert {item["@id"] for item in collect["object"]} == {item["@id"] for item in chunks}
    assert all(graph[item["@id"]]["@type"] == "CreativeWork" for item in collect["object"])
    times = [datetime.fromisoformat(collect[key]).timestamp() for key in ("startTime", "endTime")]
    assert times == [111, 112]
    run = graph["#run"]
    assert graph[run["agent"]["@id"]]["name"] == "A. Person"
    assert {"@id": "papers/toy/experiments.yaml"} in run["object"]
    assert {"@id": DATA} in run["result"]
    begin, end = (datetime.fromisoformat(run[key]) for key in ("startTime", "endTime"))
    assert (end - begin).total_seconds() == 14  # from the first job to the last


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_record_passes_the_validator_of_its_profiles(made, monkeypatch):
    """Without a network: the contexts come from `rocrate`, whose file is that of RO-Crate 1.3."""
    terms = json.loads((Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_text())
    for name in ("ComputationalWorkflow", "FormalParameter"):  # renamed since RO-Crate 1.1
        terms["@context"][name] = f"https://bioschemas.org/{name}"
    added = {name: f"{crate.TERMS}#{name}" for name in ("ParameterConnection", "connection")}
    known = {"https://w3id.org/ro/crate/1.1/context": terms, crate.TERMS: {"@context": added}}

    def get(_self, url, **_options):
        kind = {"Content-Type": "application/ld+json"}
        text = json.dumps(known[url])
        return SimpleNamespace(status_code=200, headers=kind, text=text, json=lambda: known[url])

    monkeypatch.setattr(HttpRequester, "get", get, raising=False)
    record = record_of(made)
    settings = ValidationSettings(
        rocrate_uri=".",
        profile_identifier="provenance-run-crate",
        requirement_severity=Severity.REQUIRED,
        no_cache=True,
        metadata_only=True,
    )
    result = validate_metadata_as_dict(record, settings)
    assert [issue.message for issue in result.get_issues()] == []
    del record["@graph"][[entity["@id"] for entity in record["@graph"]].index("#engine")]
    workflow = next(entity for entity in record["@graph"] if entity["@id"] == WORKFLOW)
    workflow["@type"] = ["File", "SoftwareSourceCode", "ComputationalWorkflow"]
    messages = [issue.message for issue in validate_metadata_as_dict(record, settings).get_issues()]
    assert any("HowTo type" in message for message in messages)


def other_byte(files):
    files[DATA] = files[DATA][:100] + bytes([files[DATA][100] ^ 1]) + files[DATA][101:]


def of_another_run(files):
    record = files.pop(CRATE).replace(b"two_arms", b"six_arms")
    files |= {DATA.replace("two", "six"): files.pop(DATA), CRATE: record}


def recorded_as(change):
    return lambda files: files.update({CRATE: change(files[CRATE])})


def adding(name, content=b"x", size=None):
    return lambda files: as_listed(files, name, content, size)


def forged_image(files):
    """The manifest agrees."""
    name = "figures/one.svg"
    before = sha256(files[name]).hexdigest().encode()
    as_listed(files, name, b"<svg>other</svg>")
    after = sha256(files[name]).hexdigest().encode()
    as_listed(files, LIST, files[LIST].replace(before, after))


def listing(name, there=True):
    """Return a change that adds a file to the manifest, and unless it is not `there` itself."""

    def change(files):
        if there:
            as_listed(files, name, b"x")
        lines = [*files[LIST].splitlines(True), f"{sha256(b'x').hexdigest()}  {name}\n".encode()]
        as_listed(files, LIST, b"".join(sorted(lines, key=lambda line: line[66:])))

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other_byte, f"is damaged: {DATA} has another hash than its record says"),
        (of_another_run, f"is of another run: it lacks {DATA}"),
        (lambda files: files.update({"results/toy/more.parquet": b"more"}), "has results/toy/more"),
        (lambda files: files.pop("src/some code.py"), "is damaged: it lacks src/some code.py"),
        (lambda files: files.pop(CRATE), f"is not one of our archives: it has no {CRATE}"),
        (recorded_as(lambda text: text[:100]), f"{CRATE} is damaged, or not ours"),
        (
            recorded_as(lambda text: text.replace(b"fairbandits 1", b"x")),
            "is an archive of somethi",
        ),
        (lambda files: files.update({"../out.txt": b"out"}), "'../out.txt', which leads out"),
        (adding("results/../../out.txt"), "which leads out"),
        (adding("/results/out.txt"), "which leads out"),
        (adding("results\\..\\out.txt"), "which leads out"),
        (adding("results/./site/index.html"), "is not the usual form of a name"),
        (adding("results//site/index.html"), "is not the usual form of a name"),
        (adding("results/empty/", b""), "is not the usual form of a name"),
        (adding("results/site/Index.html"), "has results/site/index.html more than once"),
        (adding("results/site/index.html/more"), "index.html as a file and as a folder"),
        (adding("results/site/a\nb"), r"'results/site/a\\nb', whose name has control characters"),
        (adding("results/site/\x1b[31m"), "whose name has control characters"),
        (adding("results/site/" + "n" * 300), "whose name has more than 255 bytes"),
        (adding("results/site/" + "n/" * 1000 + "n"), "whose name has more than 400 bytes"),
        (adding("results/site/more.html"), "site/more.html is no file that manifest"),
        (listing("results/anything/else.sh"), "anything/else.sh, which is no file of this run"),
        (listing("results/site/.hidden"), "site/.hidden, which is no file of this run"),
        (listing("results/toy/more.parquet"), "toy/more.parquet, which is no file of this run"),
        (listing("results/../../../dev/zero", False), "dev/zero', which leads elsewhere"),
        (listing("results/site/none.html", False), "lists results/site/none.html, which is not"),
        (listing("src/some code.py", False), "lists src/some code.py, which is not of this run"),
        (adding("src/zeros.bin", bytes(9_000), size=10), "has 9000 bytes, its record says 10"),
        (adding("results/site/index.html"), "site/index.html is not the file that manifest"),
        (forged_image, "one.svg is not the file that results.lock lists"),
        (lambda files: files.pop(LIST), "is damaged: it lacks results/m"),
        (adding(LIST, b"no hash"), f"is refused: {LIST} cannot be read as a manifest: line 1 is"),
        (recorded_as(lambda text: b'{"@graph":' + b"[" * 10**5), f"{CRATE} is damaged, or not"),
        (recorded_as(lambda text: b'{"@graph": {"a": 1}}'), f"{CRATE} is damaged, or not"),
        (
            lambda files: files.update({f"{k}": b"" for k in range(60_000)}),
            r"has 6\d+ files, more than 20000",
        ),
    ],
)
def test_a_changed_or_hostile_archive_is_refused_before_anything_of_it_is_used(
    refused, made, tmp_path, change, message
):
    refused(changed(made, tmp_path / "bad.zip", change), message)


def test_limits_of_sizes_hold_before_anything_is_read(refused, made, tmp_path, monkeypatch):
    bad = shutil.copy(made, tmp_path / "bad.zip")
    with zipfile.ZipFile(bad, "a", zipfile.ZIP_DEFLATED) as target:
        target.writestr("src/zeros.bin", bytes(2 * 10**6))
    refused(bad, r"'src/zeros.bin', of 2000000 bytes, packed into \d+$")
    changed(made, bad, adding(LIST, bytes(10**6)))
    monkeypatch.setattr(archive, "MOST_OF_RECORD", entry_of(made, CRATE).file_size + 100)
    refused(bad, f"{LIST} has 1000000 bytes, more than")
    changed(made, bad, adding("src/zeros.bin", bytes(10**6)))
    monkeypatch.setattr(archive, "MOST_OF_RECORD", 99)
    refused(bad, f"{CRATE} has [0-9]+ bytes, more than 99")
    monkeypatch.setattr(archive, "MOST_IN_ALL", 10**6)
    refused(bad, "bytes, more than 1000000")
    monkeypatch.setattr(archive, "MOST_BYTES", 10**5)
    refused(bad, "'src/zeros.bin', of 1000000 bytes, more than 100000")


def test_a_record_that_is_larger_than_it_says_is_not_unpacked(refused, tmp_path):
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(CRATE, bytes(10**8))
    content = bytearray(bad.read_bytes())
    at = content.rfind(b"PK\x01\x02") + 24
    content[at : at + 4] = (10**5).to_bytes(4, "little")
    bad.write_bytes(content)
    tracemalloc.start()
    refused(bad, f"{CRATE} ")
    assert tracemalloc.get_traced_memory()[1] < 5 * 10**7
    tracemalloc.stop()


def test_a_link_is_refused(refused, made, tmp_path):
    bad, link = shutil.copy(made, tmp_path / "bad.zip"), zipfile.ZipInfo("results/site/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(bad, "a") as target:
        target.writestr(link, b"/etc/passwd")
    refused(bad, "'results/site/link', which is no plain file")


@pytest.mark.parametrize(
    ("at", "there", "bits", "message"),
    [(6, 8, 1, "which is encrypted"), (8, 10, 99, "which is compressed in an unknown way, 99")],
)
def test_a_member_that_nobody_can_read_is_refused(
    refused, made, tmp_path, at, there, bits, message
):
    content, name = bytearray(made.read_bytes()), b"results/site/index.html"
    content[entry_of(made, name.decode()).header_offset + at] = bits
    content[content.rfind(b"PK\x01\x02", 0, content.rfind(name)) + there] = bits
    (tmp_path / "bad.zip").write_bytes(content)
    refused(tmp_path / "bad.zip", message)


def test_the_root_that_the_author_told_is_asked_for(finished, made, elsewhere):
    root = manifest.read_manifest(finished / "results" / manifest.MANIFEST).root
    for other, message in (("0" * 16, f"its root is {root}, not 0000"), ("x", "first 16 digits")):
        with pytest.raises(StoreError, match=message):
            fetched(made, elsewhere, finished, other)
    assert fetched(made, elsewhere, finished, root[:16])[-1].endswith("it begins as --root says")


def test_a_bit_of_a_compressed_file_is_noticed(refused, made, tmp_path):
    info = entry_of(made, "papers/toy/experiments.yaml")
    content = bytearray(made.read_bytes())
    content[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 255
    bad = tmp_path / "bad.zip"
    bad.write_bytes(content)
    refused(bad, "is damaged: papers/toy/experiments.yaml")
    bad.write_bytes(content[:-300])
    refused(bad, "is damaged: it is no zip archive")
    refused(tmp_path / "none.zip", "does not exist")


@pytest.mark.parametrize(
    ("footer", "add", "message"),
    [
        ({}, 1.0, "two_arms.parquet, ucb1-bernoulli: replicate 0 has content hash"),
        ({"codes": {}}, 0.0, "two_arms.parquet is stale: code of an earlier version made"),
        ({"title": "Another"}, 0.0, "two_arms.parquet does not belong here: its title is"),
    ],
)
def test_forged_results_are_refused(refused, finished, made, tmp_path, footer, add, message):
    """Also with the right hash in the record: the lock and the footers decide."""
    forged = tmp_path / "forged.parquet"
    more = lambda table: table | {"reward": table["reward"] + add}  # noqa: E731
    shrunk.rewritten(finished / DATA, more, forged, **footer)
    change = adding(DATA, forged.read_bytes())
    refused(changed(made, tmp_path / "bad.zip", change), message)


def test_results_that_are_there_stay(finished, made, elsewhere):
    mine = Path(elsewhere.folders["results"], "toy", "own.txt")
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(StoreError, match="toy is there already; move it away"):
        fetched(made, elsewhere, finished)
    assert [path for path in mine.parents[2].rglob("*") if path.is_file()] == [mine]


def test_nothing_is_left_when_a_move_fails(finished, made, elsewhere, monkeypatch):
    rename = Path.rename

    def full(path, target):
        if path.name == "toy":
            raise OSError("disk full")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="disk full"):
        fetched(made, elsewhere, finished)
    results = Path(elsewhere.folders["results"])
    assert [*results.parent.rglob("*")] == [results]


@pytest.mark.parametrize("gone", [DATA, "results/site/index.html", LIST])
def test_an_unfinished_run_is_not_archived(finished, tmp_path, gone):
    root = shutil.copytree(finished, tmp_path / "copy")
    (root / gone).unlink()
    with pytest.raises(StoreError, match=f"{gone} does not exist; `fairbandits replicate`"):
        write_archive(config_in(root), tmp_path / "run.zip", root)
    assert not (tmp_path / "run.zip").exists()


def test_without_a_checkout_or_records_of_jobs_nothing_is_archived(finished, tmp_path):
    root = shutil.copytree(finished, tmp_path / "copy")
    shutil.rmtree(root / RECORDS)
    with pytest.raises(StoreError, match="there are no records of finished jobs"):
        write_archive(config_in(root), tmp_path / "run.zip", root)
    shutil.rmtree(root / ".git")
    with pytest.raises(StoreError, match="is no git checkout"):
        write_archive(config_in(root), tmp_path / "run.zip", root)
    assert not (tmp_path / "run.zip").exists()
