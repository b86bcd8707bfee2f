"""Models of headlines.yaml, across.yaml, glossary.yaml and arena.yaml."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from fairbandits.settings import models as m
from fairbandits.settings.models import Model
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

Texts = Annotated[list[m.Words], m.Some, m.Unique]
OrNone = m.Words | None


def blocks(block: Any, key: Any = str) -> Any:
    """Return the type of at least one block by name."""
    return Annotated[dict[key, block], m.Some]


class SharedStatement(Model):
    """What several papers say."""

    title: m.Words
    statement: m.Words  # one sentence, formulas between dollar signs
    claims: Annotated[list[m.Words], m.Pair, m.Unique]  # that say it or bear on it


class AcrossFile(Model):
    """papers/across.yaml."""

    statements: blocks(SharedStatement, m.matching("[a-z]+(-[a-z]+)*"))


class Headline(Model):
    """A finding that matters most, numbers as {NAME} of a papers/*/numbers.yaml."""

    needs: ClassVar = {"figure": ("shows",), "shows": ("figure",), "qualified_by": ("claims",)}
    says: m.Words  # one sentence, the result first and by how much
    setting: m.Words  # which text, instance, rounds, weight or version, and how many replicates
    against: m.Words  # what speaks most against it, with its number
    figure: OrNone = None  # that shows it, PAPER/FIGURE
    shows: OrNone = None  # the quantity that the figure shows, as sentence and figure call it
    arena: OrNone = None  # the contract of the arena that it is about
    claims: blocks(m.Words) = Field(default={})  # ids, each with the verdict that it stands on
    #: for each of these claims, its tags and the tests that come out otherwise without deciding,
    #: each with the words of this headline that say so
    qualified_by: blocks(blocks(m.Words)) = Field(default={})


class HeadlinesFile(Model):
    """papers/headlines.yaml, in the order in which they are shown."""

    headlines: Annotated[list[Headline], Field(min_length=1, max_length=7)]


class Card(Model):
    """The paper on the report's first page."""

    figure: str  # that stands for the paper
    says: m.Words  # what the paper is about in one sentence


class GlossaryFile(Model):
    """papers/SLUG/glossary.yaml."""

    setting: m.Words  # what the paper is about, in a few sentences
    card: Card | None = None
    terms: blocks(m.Words)  # words and symbols, as a ledger writes them, with what they mean
    formulas: dict[str, m.Words] = Field(default={})  # of claims that state a bound, in LaTeX


class ContractBlock(Model):
    """A contract that is judged, by its name in fairbandits.contracts."""

    suites: Texts  # of papers/arena/experiments.yaml, on whose instances it is judged
    title: m.Text
    says: m.Text  # what is owed


class Translation(Model):
    """How a policy that was made for another contract is run under this one."""

    #: needs the true means, estimates them, needs neither, or has no contract
    kind: m.choice("oracle", "plug-in", "declared", "control")
    says: m.Text  # what becomes of the contract


class NoRole(Model):
    """Why a contract makes no sense for a policy."""

    none: m.Text


class ArenaFile(Model):
    """papers/arena/arena.yaml."""

    contracts: blocks(
        ContractBlock,
        m.choice("minimum_pulls", "minimum_reward", "group_exposure", "group_merit"),
    )
    translations: dict[str, Translation]
    #: how each policy of the suites meets each contract: own, the name of a translation, or none
    policies: blocks(dict[str, m.either(str, NoRole)])


def load_glossary(paper: str, claims: Iterable[str], root: Path = ROOT) -> GlossaryFile:
    """Return a paper's glossary (empty without a file); ConfigError for unknown claims in it."""
    file = paper_file(paper, "glossary", root)
    if not file.is_file():
        return GlossaryFile.model_construct(setting="", terms={})
    where = str(file.relative_to(root))
    glossary = m.validated(read_yaml(file), GlossaryFile, where)
    claims = list(claims)
    for key in glossary.formulas:
        m.expect_known(key, claims, f"{where}: formulas: no claim {key!r}")
    return glossary
