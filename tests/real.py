"""The real configuration and claims, which take seconds: read once in a process.

Nobody changes them.
"""

from dataclasses import replace
from functools import cache

from fairbandits.audit import tiny
from fairbandits.audit.claims import Claim, Paper, claims_of, load_papers
from fairbandits.audit.finding import Answer
from fairbandits.settings.config import Config, load_config
from fairbandits.settings.schemas import ROOT, read_yaml

FILES = (ROOT / "config" / "config.yaml",)


@cache
def config() -> Config:
    """Return the configuration of the published scale."""
    return load_config(FILES)


@cache
def papers() -> dict[str, Paper]:
    """Return the claims of all papers."""
    return load_papers(config())


def every() -> dict[str, Claim]:
    """Return all claims by id."""
    return claims_of(papers())


@cache
def tiny_runs(paper: str) -> tiny.Tiny:
    """Return made-up small runs of a paper's experiments."""
    return tiny.Tiny(config(), paper)


@cache
def asked(key: str) -> list[Answer]:
    """Return a claim's answers without findings, on a tiny run; all claims take seconds."""
    claim = every()[key]
    runs = tiny_runs(claim.paper)
    return tiny.asked(claim, papers()[claim.paper], runs) if claim.of else []


def load(configs) -> tuple[Config, dict[str, Paper]]:
    """Return what `fairbandits.audit.run.load` does of the real file and files of folders alone."""
    assert tuple(configs[:1]) == FILES
    content = [read_yaml(file) for file in configs[1:]]
    assert all(one.keys() == {"pathvars"} for one in content)
    folders = {name: path for one in content for name, path in one["pathvars"].items()}
    return replace(config(), folders=config().folders | folders), papers()
