"""From a file of a user's own claims to verdicts: checked, frozen, simulated, judged, written."""

import hashlib
import inspect
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from click import progressbar

from fairbandits.audit import tiny
from fairbandits.audit.claims import OWN, SUITE, Study, load
from fairbandits.audit.code import asking_files
from fairbandits.audit.finding import FAILED, INCONCLUSIVE
from fairbandits.audit.inputs import confidence
from fairbandits.audit.judge import judge
from fairbandits.audit.rows import (
    FINDINGS_TABLE,
    VERDICTS_TABLE,
    finding_row,
    verdict_row,
    write_committed,
)
from fairbandits.audit.run import WIDTH, exploratory_words, failures, find, width
from fairbandits.audit.runs import Evidence
from fairbandits.audit.terminal import explanation, listing
from fairbandits.audit.totals import Row, tally
from fairbandits.data.provenance import PACKAGE, git_commit, package_versions
from fairbandits.data.store import StoreError, replacing
from fairbandits.data.texts import write_text
from fairbandits.data.whole import alone
from fairbandits.engine.kinds import COMPILING, work
from fairbandits.library.instance import Instance, RandomInstance
from fairbandits.library.own_code import Ended, importable, line_of
from fairbandits.library.processes import at, shared
from fairbandits.library.repeating import repeated
from fairbandits.library.simulation import Setting
from fairbandits.numerals import counted
from fairbandits.observers import make_observer
from fairbandits.policies import POLICIES, make_policy
from fairbandits.policies import own as own_policies
from fairbandits.policies.own import ARE_QUOTAS, described, is_own
from fairbandits.replication.bundles import range_of
from fairbandits.replication.datasets import collect, read_chunk
from fairbandits.replication.simulate import _settled, instance_of, write_chunk
from fairbandits.settings.config import FROZEN, Config, Run
from fairbandits.settings.experiments import experiment_of
from fairbandits.settings.models import expect_known, require, validated
from fairbandits.settings.papers import ExperimentBlock
from fairbandits.settings.scales import Settings
from fairbandits.settings.schemas import ConfigError, read_json

REPORT, HISTORY = "report.md", "history.json"
#: Recorded rounds of a run with one horizon.
CHECKPOINTS = {"linear": 100, "log": 50}
#: Facts of an instance besides its means, which policies can take from it.
FACTS = ("quotas", "targets", "penalties", "groups")
#: Names of instances, which are parts of files' names; the last can be no horizon.
KEY = re.compile(r"(?!.*_[0-9]{3,}$)[a-z0-9_]+")


@dataclass(frozen=True)
class Frozen:
    """A file of claims that was frozen before its data."""

    digest: str
    seed: int | str  # "frozen" where it follows from the file
    file: str
    frozen: str  # times, UTC
    judged: str = ""  # empty until results were shown
    verdicts: Mapping[str, int] = field(default_factory=dict)  # number of claims of each

    @property
    def key(self) -> str:
        return self.digest if self.seed == FROZEN else f"{self.digest}-seed-{self.seed}"


@dataclass(frozen=True)
class Rules:
    """Everything that decides the verdicts, fixed before the data."""

    study: Study
    config: Config
    sources: tuple[Path, ...]  # its file, and those beside it that it imports


# ------------------------------------------------------------------------------------ the file


def check(file: Path, seed: int | str = FROZEN) -> Rules:
    """Return a file's rules after all checks that need no data, or raise ConfigError."""
    rules = _rules(file, seed)
    if wrong := list(tiny.problems(rules.study, rules.config)):
        raise ConfigError("\n".join(wrong))
    with tempfile.TemporaryDirectory() as folder:  # a few rounds show what policies raise
        simulate(replace(_config(rules.study, file, small=True), seed=0), Path(folder), 1)
    _repeat(rules.config)
    return rules


def _repeat(config: Config) -> None:
    """Raise ConfigError if a replicate of a user's policy differs when it is played again."""
    runs = [run for experiment in config.experiments for run in experiment.runs]
    for run in {run.spec.policy: run for run in runs if is_own(run.spec.policy)}.values():
        spec, cell = run.spec, run.spec.cells[0]
        horizon, stream = spec.horizon_of(cell), spec.stream_of(cell)
        parameters, observe, quotas, _ = _settled(spec, cell, 0, 0)
        policy = make_policy(spec.policy, parameters, where=stream, source=spec.policy_source)
        observers = [make_observer(*item, where=stream) for item in observe.items()]
        setting, how = Setting(policy, observers, quotas), {"seed": 0, "stream": stream}
        asked = (setting, instance_of(spec), horizon, range(run.replicates))
        with _placed(run), repeated(*asked, elsewhere=True, checkpoints=[horizon], **how):
            pass


def checked_words(rules: Rules) -> str:
    study, n = rules.study, counted(len(rules.study.claims), "claim")
    return f"{study.file}: {n}; digest {study.digest}, seed {rules.config.root_seed}"


def _rules(file: Path, seed: int | str) -> Rules:
    with at(f"{file}, while it is imported"):
        study = load(file, Study, keep=True)
    sources = tuple(asking_files(file))
    for path in sources:
        loaded = getattr(sys.modules.get(path.stem), "__file__", None)
        if path.stem in sys.stdlib_module_names or Path(loaded or path).resolve() != path.resolve():
            raise ConfigError(f"{path} has the name of another module; rename the file")
    content = b"".join(b"%b\0%b\0" % (path.name.encode(), path.read_bytes()) for path in sources)
    study.digest = hashlib.sha256(content).hexdigest()[:16]
    study.title = study.title or file.stem
    if not study.claims:
        raise ConfigError(f"{file}: there are no claims; `@study.claim()` registers a function")
    config = _config(study, file)
    return Rules(study, replace(config, seed=seed, frozen=study.digest), sources)


def _config(study: Study, file: Path, small: bool = False) -> Config:
    """Return the runs of a study, as those of a paper; a `small` one has few of them."""
    several = isinstance(study.horizon, list | tuple)
    horizons = list(study.horizon) if several else [study.horizon]
    replicates = study.replicates
    try:
        _check_study(study, file, horizons)
        policies = {name: _policy(given, name, file) for name, given in study.policies.items()}
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from None
    if small:
        made = (item[0] if isinstance(item, tuple) else item for item in study.instances.values())
        arms = max(getattr(instance, "n_arms", 2) for instance in made)
        horizons = [min(2 * arms + 50 * k, horizon) for k, horizon in enumerate(horizons, start=1)]
        replicates = 2
    for name, policy in policies.items():
        policy |= _sourced({"horizons": horizons}) if len(horizons) > 1 else {}
        policy |= {"observe": list(study.observe[name])} if name in study.observe else {}
    common = {
        "checkpoints": CHECKPOINTS,
        # files small enough for processes to share, and large enough for blocks of replicates
        "chunk": max(8, -(-replicates // 16)),
        "policies": policies,
        **_sourced({"horizon": horizons[-1], "replicates": replicates}),
    }
    folders = dict.fromkeys(("results", "figures", "logs", "benchmarks"), OWN)
    content = {"seed": FROZEN, "scale": "paper", "papers": [OWN], "pathvars": folders}
    settings, experiments = validated(content, Settings, str(file)), []
    for name, given in study.instances.items():
        made, facts = given if isinstance(given, tuple) else (given, {})
        if not isinstance(made, Instance | RandomInstance):
            raise ConfigError(f"{file}: instances: {name!r} must be an Instance, got {made!r}")
        for key in facts:
            expect_known(key, FACTS, f"{file}: instances: {name!r} cannot have {key!r}")
        content = {"title": name, **common, **_instance(made, facts)}
        block = validated(content, ExperimentBlock, f"{file}: instances", name)
        where = settings, [], f"{file}: instances: {name}", SUITE
        experiments.append(experiment_of(OWN, f"{SUITE}_{name}", block, *where, audit=False))
    return Config(FROZEN, "paper", folders, tuple(experiments))


def _check_study(study: Study, file: Path, horizons: Sequence[Any]) -> None:
    """Raise an error unless a study's names and numbers are what they must be."""
    for name in ("instances", "policies", "observe"):
        given = getattr(study, name)
        needs = f"the study needs {name} by name, {name}={{...}}, got {given!r}"
        require(isinstance(given, Mapping) and (given or name == "observe"), needs)
    for name in ("instances", "policies"):
        for key in getattr(study, name):
            must = "must be of small letters, digits and _, and not end like a horizon, such as"
            message = f"{name}: a name {must} eight_arms; got {key!r}"
            require(isinstance(key, str) and KEY.fullmatch(key), message)
    for key in study.observe:
        expect_known(key, study.policies, f"{file}: observe: there is no policy {key!r}")
    for name, least, given in (("horizon", 1, horizons), ("replicates", 2, [study.replicates])):
        for number in given:
            must = f"must be a whole number of at least {least}, got {number!r}"
            require(type(number) is int and number >= least, f"{name} {must}")
    confidence(study.level)


def _policy(given: Any, name: str, file: Path) -> dict[str, Any]:
    """Return a policy as an experiment has it, with its name and parameters."""
    made, parameters = given if isinstance(given, tuple) else (given, {})
    if not isinstance(made, type):
        raise ValueError(
            f"policies: {name!r} must be a class, or a class and its parameters, such as "
            f"(fb.LFG, {{'eta': 100}}); got {made!r}"
        )
    given = dict(parameters)
    if is_dataclass(made):
        needed = [f.name for f in fields(made) if f.init and f.default is MISSING]
        given |= {f.name: f.default for f in fields(made) if not f.init and f.default}
    else:
        try:
            signature = inspect.signature(made).parameters.values()
        except ValueError:  # of code in C nothing is known
            signature = ()
        needed = [parameter.name for parameter in signature if parameter.default is parameter.empty]
    given = {key: "instance" for key in needed if key in (*FACTS, *ARE_QUOTAS)} | given
    block = {"label": name, "parameters": _sourced(given)}
    ours = made.__module__.partition(".")[0] == PACKAGE.name
    known = (key for key in POLICIES if ours and issubclass(made, POLICIES[key]))
    if registered := next(known, ""):
        return block | {"policy": registered}
    try:
        home = importable(f"{Path(inspect.getfile(made)).name}:{made.__name__}", file.parent)
        own_policies.source_hash(home)
    except (ValueError, OSError, TypeError) as error:
        raise ValueError(f"policies: {name!r}: {error}") from None
    return block | {"policy": home}


def _instance(made: Instance | RandomInstance, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an experiment says of an instance; `more` are facts in place of its own."""
    facts = {name: fact for name in FACTS if (fact := getattr(made, name, ())) not in ((), None)}
    if "quotas" in facts:
        facts["quotas"] = [*map(str, facts["quotas"])]
    block = _sourced({"laws": [made.law], **facts, **more})
    if made.law in ("gaussian", "beta") and made.spread is not None:
        block["spread"] = _sourced({made.law: made.spread})
    if isinstance(made, Instance):
        return block | _sourced({"means": made.means})
    groups = facts.get("groups", ())
    firsts = [sum(groups[:k]) for k in range(len(groups))]
    low, high = (
        [end[k] for k in firsts] if isinstance(end, tuple) else end for end in (made.low, made.high)
    )
    drawn = {"arms": made.n_arms, "low": low, "high": high, "decimals": made.decimals}
    drawn |= {"fixed": [*map(list, made.fixed)]}
    given = {name: value for name, value in drawn.items() if value not in (None, [])}
    return block | {"drawn_means": _sourced(given)}


def _sourced(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as experiments have them, each with its source."""
    plain = {key: list(item) if isinstance(item, tuple) else item for key, item in values.items()}
    source = {"provenance": "chosen", "source": "the study"}
    return {key: {"value": item, **source} for key, item in plain.items()}


# ------------------------------------------------------------------------------------- the runs


def simulate(
    config: Config,
    results: Path,
    cores: int,
    *,
    progress: bool = False,
    time_limit: float | None = None,
) -> bool:
    """Simulate the missing runs, and return whether there were any; finished parts are kept."""
    evidence, seed = Evidence(config, OWN, results), config.root_seed
    lacking = [block for block in config.experiments if evidence.problem(block)]
    parts = [(run, chunk) for block in lacking for run in block.runs for chunk in run.chunks()]
    left = [part for part in parts if not _is_there(results, seed, *part)]
    play, alone = partial(_play, seed, results), cores == 1 or len(left) < 2
    played = map(play, left) if alone else shared(play, left, cores, time_limit=time_limit)
    shown = nullcontext(played)
    if progress and left:
        shown = progressbar(played, len(left), "simulating", file=sys.stderr)
    try:
        with shown as files:
            for _ in files:
                pass
    except Ended as error:
        with _placed(error.question[0]) if error.question else nullcontext():
            raise
    for block in lacking:
        chunks = [results / run.chunk_file(chunk) for run in block.runs for chunk in run.chunks()]
        collect(chunks, block.facts(), seed, results / block.dataset)
    shutil.rmtree(results / "cache", ignore_errors=True)
    return bool(lacking)


def _is_there(results: Path, seed: int, run: Run, chunk: str) -> bool:
    try:
        read_chunk(results / run.chunk_file(chunk), run.spec, seed=seed)
    except StoreError:
        return False
    return True


def _play(seed: int, results: Path, task: tuple[Run, str]) -> None:
    """Simulate and write some replicates; a policy's error has its place."""
    run, chunk = task
    spec, replicates = run.spec, range_of(chunk)
    rounds = spec.total_rounds * run.replicates
    compiled = True if work(rounds, spec.n_arms) > COMPILING else None
    with _placed(run):
        write_chunk(spec, seed, replicates, results / run.chunk_file(chunk), compiled)


@contextmanager
def _placed(run: Run) -> Iterator[None]:
    """Give a policy's error the place in a run."""
    try:
        yield
    except Exception as error:  # a policy can raise anything
        if not (where := getattr(error, "place", "")):
            raise
        policy = run.name.removesuffix(f"-{run.spec.law}")
        instance = run.experiment.partition("_")[2]
        message = error.words if isinstance(error, Ended) else described(error)
        raise ConfigError(
            f"policy {policy} on instance {instance}, {where}: {message}{line_of(error)}"
        ) from None


# ----------------------------------------------------------------------------------- the folder


def read_history(out: Path) -> list[Frozen]:
    """Return all files that were frozen in a folder, oldest first."""
    file = out / HISTORY
    try:
        return [Frozen(**entry) for entry in read_json(file)]
    except FileNotFoundError:
        if out.is_dir() and any(path.name != f".{HISTORY}.lock" for path in out.iterdir()):
            raise StoreError(
                f"{out} is not empty, and has no {HISTORY} of claims that were frozen there; name "
                "another folder with --out"
            ) from None
        return []
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(
            f"{file} cannot be read ({error}), so that it is not known which claims were judged "
            "here; bring it back, or name another folder with --out"
        ) from None


def _write(out: Path, history: list[Frozen]) -> None:
    text = json.dumps([asdict(entry) for entry in history], indent=1, ensure_ascii=False)
    write_text(out / HISTORY, text)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def freeze(out: Path, rules: Rules) -> tuple[list[Frozen], int]:
    """Record rules as frozen, unless they are; return the folder's history and their place."""
    entry = Frozen(rules.study.digest, rules.config.seed, rules.study.file.name, _now())
    with alone(out / HISTORY):
        history = read_history(out)
        known = [old.key for old in history]
        if entry.key in known:
            return history, known.index(entry.key)
        for file in rules.sources:
            with replacing(out / entry.key / "frozen" / file.name) as temporary:
                temporary.write_bytes(file.read_bytes())
        history.append(entry)
        _write(out, history)
    return history, len(known)


def judged(
    file: Path,
    out: Path,
    *,
    seed: int | str = FROZEN,
    cores: int = 1,
    say: Callable[[str], None] = lambda message: None,
    progress: bool = False,
    time_limit: float | None = None,
) -> str:
    """Freeze a file of claims, simulate, judge, write all of it; return the verdicts."""
    rules = check(file, seed)
    history, index = freeze(out, rules)
    entry = history[index]
    say(f"Claims {entry.digest}, frozen {entry.frozen}. {_seed_words(rules)}")
    if not entry.judged:
        for line in _earlier(history[:index]):
            say(line)
    results = out / entry.key
    if not simulate(rules.config, results, cores, progress=progress, time_limit=time_limit):
        say(f"The data of these claims are in {results}, and are used again.")
    rows, findings = _rows(rules, results)
    # recorded before anything is shown, so that every look at results leaves a trace
    entry = replace(entry, judged=entry.judged or _now(), verdicts=tally(rows).counted)
    with alone(out / HISTORY):
        history = [entry if old.key == entry.key else old for old in read_history(out)]
        _write(out, history)
    write_committed(results, rows, findings, "paper")
    write_text(results / REPORT, _report(rules, history, history.index(entry), rows, findings))
    for line in _exact_instead(findings):
        say(line)
    files = [results / name for name in (REPORT, VERDICTS_TABLE, FINDINGS_TABLE)]
    say(f"Written: {', '.join(map(str, files))}.")
    return listing(rows, width())


def _rows(rules: Rules, results: Path) -> tuple[list[Row], list[Row]]:
    """Return the rows of verdicts and findings; StoreError if a claim fails."""
    papers = {OWN: rules.study}
    answers, _, made = find(rules.config, rules.study, results)
    if lines := "\n".join(failures(answers)):
        failed = len({answer.claim for answer in answers if answer.verdict == FAILED})
        raise StoreError(
            f"{counted(failed, 'claim')} failed, so that no verdict is written or shown; "
            f"the data stay\n{lines}"
        )
    rows = [verdict_row(papers, verdict, made) for verdict in judge(papers, answers)]
    return rows, [finding_row(papers, answer, made) for answer in answers]


# ------------------------------------------------------------------------------------ the words


def _seed_words(rules: Rules) -> str:
    seed = rules.config.root_seed
    if rules.config.exploratory:
        return exploratory_words(str(seed))
    return f"The seed {seed} follows from the files."


def _of(entry: Frozen) -> str:
    seed = f", exploratory seed {entry.seed}" if entry.key != entry.digest else ""
    verdicts = ", ".join(f"{number} {outcome}" for outcome, number in entry.verdicts.items())
    said = f"judged {entry.judged}: {verdicts}" if entry.judged else "never judged"
    return f"- `{entry.digest}`{seed}, frozen {entry.frozen}, {said}."


def _earlier(history: Sequence[Frozen]) -> list[str]:
    """Return what was frozen before, and whether its verdicts were seen; nothing without any."""
    if not history:
        return []
    seen = any(entry.judged for entry in history)
    more = (
        "Verdicts by them were seen before these claims were frozen. The data of these are new: "
        "other files have another seed."
        if seen
        else "None of them was judged."
    )
    return [f"{len(history)} before these in this folder. {more}", *map(_of, history)]


def _report(
    rules: Rules, history: list[Frozen], index: int, rows: Sequence[Row], findings: list[Row]
) -> str:
    """Return the report on a user's own claims, in Markdown."""
    this, after, papers = history[index], history[index + 1 :], {OWN: rules.study}
    head = f"Claims `{this.digest}` of `{this.file}`, frozen {this.frozen}, judged {this.judged}."
    lines = [f"# {rules.study.title}", "", f"{head} {_seed_words(rules)}", ""]
    lines += ["```text", listing(rows, WIDTH), "```", "", "## Others frozen in this folder", ""]
    lines += _earlier(history[:index]) or ([] if after else ["None."])
    lines += ["", f"{len(after)} after these:", *map(_of, after)] if after else []
    for key, claim in rules.study.claims.items():
        own_rows = [row for row in rows if row["claim"] == key]
        said = explanation(claim, papers, own_rows, findings, WIDTH)
        lines += ["", f"## {key}", "", "```text", said, "```"]
        lines += [f"\n{hint}" for hint in _exact_instead(findings, key)]
    versions = ", ".join(f"{name} {version}" for name, version in package_versions().items())
    lines += ["", "## What was run", "", f"With {versions}, commit {git_commit()}:"]
    for file in rules.sources:
        lines += ["", f"`{file.name}`", "", "```python", file.read_text(encoding="utf-8"), "```"]
    return "\n".join(lines) + "\n"


def _exact_instead(findings: Sequence[Row], claim: str = "") -> Iterator[str]:
    """Yield a hint for each test with a constant number, since that is not random."""
    open_ = [
        row for row in findings if row["verdict"] == INCONCLUSIVE and "CONSTANT" in row["tags"]
    ]
    chosen = [row for row in open_ if claim in ("", row["claim"])]
    for key, phrase in dict.fromkeys((row["claim"], row["phrase"]) for row in chosen):
        yield (
            f"{key}, {phrase}: the number is the same in all replicates, so it has no interval. If "
            "no chance is in it, use `rounded` (`exact` where it is a whole number), which checks "
            "in every replicate by how much the statement is broken: 0 or less where it holds."
        )
