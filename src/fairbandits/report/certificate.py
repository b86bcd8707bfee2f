"""One page on a finished run: what was run, where, what agreed, and what did not."""

import platform
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import psutil

from fairbandits.audit.finding import OUTCOMES
from fairbandits.audit.ledger import Ledger
from fairbandits.audit.staleness import Verdicts
from fairbandits.data.store import read_footer
from fairbandits.report.crate import jobs_of
from fairbandits.report.markup import render
from fairbandits.settings.config import Config

PACKAGES = ("fairbandits", "numpy", "numba", "pandas", "pyarrow", "scipy", "snakemake")
#: Committed outputs, as git's patterns.
OUTPUTS = ("results.lock", "figures/*", "audit/*.csv")
SAME = "as committed"


def certificate(
    config: Config,
    ledgers: Mapping[str, Ledger],
    verdicts: Verdicts,
    agree: Sequence[str],
    problems: Sequence[str],
    root: Path,
) -> tuple[str, int]:
    """Return the page, and how many problems it has; `agree` and `problems` are of `verify`."""
    results = config.results
    tables = [results / one.dataset for one in config.experiments]
    writers = sorted({read_footer(one)["packages"].get("commit", "") for one in tables})
    outputs = list(_outputs(root))
    wrong = [*problems, *(f"{name}: {state}" for name, state, _ in outputs if state != SAME)]
    heads = [row for row in verdicts.rows if row["headline"] and not row["left_out"]]
    # the records lead back from here to every job; other runs have folders inside this one
    ends = [*tables, results / "site" / "index.html"]
    ends.append(Path(config.folders.get("audit", "")) / "verdicts.csv")
    places = [str(file.relative_to(root) if file.is_relative_to(root) else file) for file in ends]
    page = render(
        "certificate.html",
        config=config,
        commit=_git(root, "rev-parse", "HEAD").strip(),
        jobs=jobs_of(root, places),
        system=platform.platform(),
        processors=f"{psutil.cpu_count()} of {platform.machine()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        packages=", ".join(f"{name} {version(name)}" for name in PACKAGES),
        writers=writers,
        agree=agree,
        same=sum(state == SAME for _, state, _ in outputs),
        outputs=outputs,
        wrong=wrong,
        outcomes=OUTCOMES,
        ledgers=ledgers,
        counted=Counter((row["paper"], row["grade"] or "none", row["verdict"]) for row in heads),
        place=verdicts.place,
    )
    return page, len(wrong)


def _git(root: Path, *words: str) -> str:
    how = {"cwd": root, "capture_output": True, "text": True, "check": False}
    return subprocess.run(["git", *words], **how).stdout


def _outputs(root: Path) -> Iterator[tuple[str, str, str]]:
    names = _git(root, "ls-files", "-z", "--", *OUTPUTS).split("\0")[:-1]
    changed = set(_git(root, "diff", "--name-only", "-z", "HEAD", "--", *OUTPUTS).split("\0"))
    for name in names:
        if (file := root / name).is_file():
            digest = sha256(file.read_bytes()).hexdigest()
            yield name, "differs" if name in changed else SAME, digest
        else:
            yield name, "not there", ""
