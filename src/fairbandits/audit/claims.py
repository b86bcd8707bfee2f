"""The form of a claim: what a paper says, where, and a function that yields its tests."""

import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partialmethod
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from fairbandits.audit.code import asking_code
from fairbandits.audit.measures import Measure, measures_of
from fairbandits.settings.config import Config
from fairbandits.settings.formulas import plain
from fairbandits.settings.models import expect_known
from fairbandits.settings.schemas import ROOT, ConfigError

#: Confidence of each family; primary claims are one family, corrected by Holm's method.
LEVEL = 0.99
#: Slug of a user's own claims, in the place of a paper's, and the suite of their runs.
OWN, SUITE = "own", "instances"
#: What a claim can be, who makes it, whether its text is there, and how its tests are joined.
ALLOWED = {
    "kind": (
        *("invariant", "bound", "rate", "comparison", "shape", "number", "explanation"),
        *("qualitative", "definition", "opinion", "literature", "inconsistency"),
    ),
    "about": ("text", "later version", "project", "assumption"),
    "basis": ("printed", "lost", "recalled"),
    "combine": ("all", "any"),
}
#: The ids of claims in a file: functions that take runs, and first arguments.
ID = re.compile(r"^def (\w+)\(runs\)|^paper\.\w+\(\s*\"([\w-]+)\"", re.MULTILINE)
#: A figure that a place names.
FIGURE = re.compile(r"Figs?\.? (\d+\w?)")
#: Where a sentence pauses, outside of brackets.
PAUSE = re.compile(r"[,;:.](?= )(?![^\[(]*[\])])")
#: What a claim has, just one of these.
WAYS = ("of", "alias_of", "judged_by", "untestable")


@dataclass(frozen=True)
class Claim:
    """What a paper says, where, and how it is judged."""

    id: str
    paper: str
    statement: str  # in our words
    kind: str  # one of `ALLOWED`
    place: str  # section, theorem or figure of the paper
    note: str = ""  # what must be said beside the verdict
    primary: bool = False  # whether the paper stands on it
    readings: tuple[str, ...] = ()  # each with a verdict of its own
    #: readings whose runs are of a program that was reconstructed
    conditional: tuple[str, ...] = ()
    #: how deciding tests make a verdict: reproduced needs all of them, or any one, and not
    #: reproduced the opposite
    combine: str = "all"
    part: str = ""  # which part of the sentence is tested, where that is less than it says
    about: str = "text"  # who makes it, one of `ALLOWED`; only what the text claims is in totals
    reported: bool = False  # without counting: the paper claims nothing firm
    basis: str = "printed"  # of the statement that is judged, one of `ALLOWED`
    reconstructed: str = ""  # what had to be, for a basis other than printed
    figure: str = ""  # that shows it; with a function, the first that the place names if not said
    between: tuple[str, ...] = ()  # of an inconsistency: the two that contradict each other
    #: claims whose truth the argument for this one uses, as a theorem uses its lemmas
    rests_on: tuple[str, ...] = ()
    alias_of: str = ""  # the claim whose verdict it carries
    judged_by: tuple[str, ...] = ()  # the claims whose verdicts decide it
    untestable: str = ""  # why there can be no verdict
    varies: bool = False  # its number differs between machines, so no committed table has it
    of: Callable[[Any], Iterator[Any]] | None = None  # yields its tests
    line: int = 0  # of its file, where it stands

    @property
    def source(self) -> str:
        """The function as it is written; empty without one."""
        return inspect.getsource(self.of) if self.of else ""

    @property
    def bases(self) -> tuple[str, ...]:
        """Claims that this one rests on, is judged by, or is an alias of."""
        if self.kind == "inconsistency":
            return self.rests_on
        return tuple(
            dict.fromkeys((*self.rests_on, *self.judged_by, *filter(None, [self.alias_of])))
        )


@dataclass
class Paper:
    """A paper's claims by id, in the order of its text.

    Parameters
    ----------
    slug : str
        Name of the paper's folder.
    title : str
        Title, the paper's short name before a colon.
    readings : mapping of str to str
        What the text leaves open: name of each reading, and what it is.
    level : float
        Confidence of each verdict, from 0.5 to below 1.
    """

    slug: str
    title: str
    readings: Mapping[str, str] = field(default_factory=dict)
    level: float = LEVEL
    claims: dict[str, Claim] = field(default_factory=dict)
    file: Path = Path()
    measures: dict[str, Measure] = field(default_factory=dict)  # of its runs alone, by name
    digest: str = ""  # hash of the files that ask: claims.py and what it imports

    def claim(self, kind: str, *where: str, **said: Any) -> Callable | None:
        """Register a claim; without an id, that of the function below, which yields its tests.

        The function's name is the id, the first paragraph of its docstring the statement, and the
        rest the note. `paper.rate("Theorem 2")` is short for `paper.claim("rate", "Theorem 2")`.

        Parameters
        ----------
        kind : str
            What it is: bound, rate, comparison, ... (`ALLOWED`).
        *where : str
            Where the paper says it; or id, place and statement of a claim without a function, which
            others judge (`judged_by`, `alias_of`), or none (`untestable`).
        **said
            Further fields of `Claim`.
        """
        if len(where) not in (1, 3):
            raise TypeError(
                f"{kind}: a place above a function is wanted, or id, place and statement of a "
                f"claim without one; got {len(where)} texts"
            )
        if len(where) == 3:
            key, place, statement = where
            caller = sys._getframe(1)
            at = caller.f_code.co_filename, caller.f_lineno
            return self._add(at, key, statement, kind, place, **said)
        (place,) = where
        if kind != "inconsistency" and (named := FIGURE.search(place)):
            said = {"figure": f"fig{named[1]}"} | said

        def register(of: Callable) -> Callable:
            statement, _, note = (inspect.getdoc(of) or "").partition("\n\n")
            where = of.__code__.co_filename, of.__code__.co_firstlineno
            key = of.__name__.replace("_", "-")
            self._add(where, key, statement, kind, place, of=of, note=note, **said)
            return of

        return register

    invariant = partialmethod(claim, "invariant")
    bound = partialmethod(claim, "bound")
    rate = partialmethod(claim, "rate")
    comparison = partialmethod(claim, "comparison")
    shape = partialmethod(claim, "shape")
    number = partialmethod(claim, "number")
    explanation = partialmethod(claim, "explanation")
    qualitative = partialmethod(claim, "qualitative")
    definition = partialmethod(claim, "definition")
    opinion = partialmethod(claim, "opinion")
    literature = partialmethod(claim, "literature")
    inconsistency = partialmethod(claim, "inconsistency")

    def _add(
        self, at: tuple[str, int], key: str, statement: str, kind: str, place: str, **said: Any
    ) -> None:
        where = f"{at[0]}, line {at[1]}: {key}"
        known = [f.name for f in fields(Claim)]
        for name in said:
            expect_known(name, known, f"{where}: a claim has no {name!r}")
        for name, item in said.items():
            if isinstance(item, str | list):
                said[name] = _line(item) if isinstance(item, str) else tuple(map(_line, item))
        claim = Claim(key, self.slug, _line(statement), kind, _line(place), line=at[1], **said)
        if problem := _problem(claim, self):
            raise ConfigError(f"{where}: {problem}")
        self.claims[key] = claim

    @property
    def short_title(self) -> str:
        return self.title.partition(":")[0]

    def reading(self, name: str) -> str:
        """Return a reading's description up to the first pause.

        All of it is returned if others begin so, or if it begins with a mere condition.
        """
        return self._short.get(name, name)

    @cached_property
    def _short(self) -> dict[str, str]:
        texts = {key: plain(_line(said)) for key, said in self.readings.items()}
        short = {key: PAUSE.split(said, maxsplit=1)[0].rstrip(".") for key, said in texts.items()}
        alike = [key for key in short if [*short.values()].count(short[key]) > 1]
        whole = [key for key in short if short[key].startswith("With ") or key in alike]
        return short | {key: texts[key].rstrip(".") for key in whole}


@dataclass
class Study(Paper):
    """Claims about one's own policies, and the runs that they are about.

    Every policy plays on every instance, on common random numbers. `fairbandits judge FILE` freezes
    the file, simulates, and judges.

    Parameters
    ----------
    title : str
        What the study asks.
    instances : mapping of str to Instance or RandomInstance, or to (instance, facts)
        What policies are played on, by name; facts are its quotas, targets, penalties or groups.
    policies : mapping of str to class, or to (class, parameters)
        Policies of this library or one's own, by name. Quotas, targets, penalties and groups that a
        policy needs and is not given are the instance's.
    horizon : int or sequence of int
        Number of rounds; of several each is recorded at its end.
    replicates : int
        Number of replicates of each, at least 2.
    observe : mapping of str to sequence of str, optional
        By policy what watches its runs: names in `fairbandits.observers`.
    level : float
        Confidence that no verdict on a primary claim is wrong, from 0.5 to below 1.
    """

    slug: str = field(default=OWN, kw_only=True)
    title: str = ""
    instances: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    policies: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    horizon: int | Sequence[int] = field(default=0, kw_only=True)
    replicates: int = field(default=0, kw_only=True)
    observe: Mapping[str, Sequence[str]] = field(default_factory=dict, kw_only=True)

    def claim(self, kind: str = "comparison", place: str = "", **said: Any) -> Callable:
        """Register a function that yields tests, as `Paper.claim`; all own claims are primary."""
        return super().claim(kind, place, **said)

    def _add(self, *given: Any, **said: Any) -> None:
        super()._add(*given, **{"primary": True} | said)


#: The claims of several papers, by paper.
Papers = Mapping[str, Paper]


def _line(text: str) -> str:
    return " ".join(text.split())


def _problem(claim: Claim, paper: Paper) -> str:
    """Return what is wrong of a claim by itself; empty if nothing is."""
    if claim.id in paper.claims:
        return f"there are two claims of this id, the other in line {paper.claims[claim.id].line}"
    if not claim.statement:
        return "it needs a docstring that says what is claimed"
    for name, allowed in ALLOWED.items():
        if (value := getattr(claim, name)) not in allowed:
            return f"{name} must be one of {', '.join(allowed)}, got {value!r}"
    if unknown := [reading for reading in claim.readings if reading not in paper.readings]:
        return f"{paper.slug} has no reading {unknown[0]!r}, but {', '.join(paper.readings)}"
    if unknown := [reading for reading in claim.conditional if reading not in claim.readings]:
        return f"conditional names {unknown[0]!r}, which is none of its readings"
    ways = [name for name in WAYS if getattr(claim, name)]
    if len(ways) != 1:
        got = " and ".join(ways) or "none"
        return f"exactly one of a function, {', '.join(WAYS[1:])} is needed, got {got}"
    if bool(claim.between) != (claim.kind == "inconsistency") or len(claim.between) == 1:
        return "an inconsistency, and nothing else, says between which it is"
    if bool(claim.reconstructed) != (claim.basis != "printed"):
        return "a claim that is not printed, and no other, says what is reconstructed"
    return ""


# --------------------------------------------------------------------------- files of claims


def load(file: Path, of: type = Paper, keep: bool = False) -> Any:
    """Return the one `Paper`, or instance of `of`, that a file of claims defines.

    Files beside it are imported by their names, and forgotten after it unless they are to `keep`.
    """
    if not file.is_file():
        raise ConfigError(f"{file} does not exist")
    if file.suffix != ".py":
        raise ConfigError(f"{file} must be Python: a claim is a function (docs/your-own-claims.md)")
    forgotten = [] if keep else [path.stem for path in file.parent.glob("*.py")]
    hidden = {name: sys.modules.pop(name) for name in forgotten if name in sys.modules}
    home = str(file.parent.resolve())
    sys.path.insert(0, home)
    try:
        spec = importlib.util.spec_from_file_location(f"claims of {file}", file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        with measures_of(OWN if keep else file.resolve().parent.name) as measures:
            spec.loader.exec_module(module)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:  # a file can raise anything
        raise ConfigError(_in_words(error, file)) from error
    finally:
        sys.path.remove(home)
        for name in forgotten:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)
    papers = {id(value): value for value in vars(module).values() if isinstance(value, of)}
    if len(papers) != 1:
        raise ConfigError(f"{file} must define one {of.__name__}, and defines {len(papers)}")
    (paper,) = papers.values()
    paper.file, paper.digest, paper.measures = file, asking_code(file), measures
    return paper


def _in_words(error: BaseException, file: Path) -> str:
    """Return an error of a file of claims with its line."""
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename) == file.absolute():
            line = frame.lineno
    where = f"{file}, line {line}" if line else str(file)
    said = getattr(error, "msg", error)  # without a second place
    return f"{where}: {type(error).__name__}: {_line(str(said))}"


def papers_with_claims(config: Config, root: Path = ROOT) -> dict[str, Path]:
    """Return the files of claims of a configuration's papers, of those that have some."""
    slugs = dict.fromkeys(block.paper for block in config.experiments)
    files = {slug: root / "papers" / slug / "claims.py" for slug in slugs}
    return {slug: file for slug, file in files.items() if file.is_file()}


def ids_in(file: Path) -> list[str]:
    """Return the ids of the claims in a file, which is not run."""
    pairs = ID.findall(file.read_text(encoding="utf-8"))
    return [name.replace("_", "-") for pair in pairs for name in pair if name]


def load_papers(config: Config, root: Path = ROOT) -> dict[str, Paper]:
    """Return the claims of all papers of the configuration that have some."""
    papers = {slug: load(file) for slug, file in papers_with_claims(config, root).items()}
    for slug, paper in papers.items():
        if paper.slug != slug:
            raise ConfigError(f"{paper.file}: the paper must be {slug!r}, got {paper.slug!r}")
    check_references(papers, config, elsewhere(papers, root))
    return papers


def elsewhere(papers: Papers, root: Path = ROOT) -> list[str]:
    """Return the ids of claims of all papers but these, configured or not."""
    files = sorted(root.glob("papers/*/claims.py"))
    return [key for file in files if file.parent.name not in papers for key in ids_in(file)]


def check_references(papers: Papers, config: Config, others: Sequence[str] = ()) -> None:
    """Raise ConfigError unless figures are there, and the claims that others name.

    Of `others`, the claims of papers that are not configured, any can be rested on.
    """
    claims = claims_of(papers)
    if len(claims) < sum(len(paper.claims) for paper in papers.values()):
        ids = [key for paper in papers.values() for key in paper.claims]
        raise ConfigError(f"two papers have a claim {next(k for k in ids if ids.count(k) > 1)!r}")
    for key, claim in claims.items():
        where = f"{papers[claim.paper].file}, line {claim.line}: {key}"
        figures = [figure for paper, figure in config.figures if paper == claim.paper]
        if claim.figure:
            expect_known(claim.figure, figures, f"{where}: no figure {claim.figure!r}")
        if other := claim.alias_of:
            expect_known(other, claims, f"{where}: alias_of: no claim {other!r}")
            if claims[other].alias_of:
                raise ConfigError(f"{where}: {other!r} is an alias itself; name what it is of")
        for other in claim.judged_by:
            expect_known(other, claims, f"{where}: judged_by: no claim {other!r}")
            if not claims[other].of:
                raise ConfigError(f"{where}: judged_by: {other!r} has no tests of its own")
        for other in claim.rests_on:
            expect_known(other, (*claims, *others), f"{where}: rests_on: no claim {other!r}")
    try:
        TopologicalSorter({key: claim.bases for key, claim in claims.items()}).prepare()
    except CycleError as error:
        circle = " rests on ".join(map(repr, reversed(error.args[1])))
        raise ConfigError(f"claims rest on each other in a circle: {circle}") from None


def claims_of(papers: Papers) -> dict[str, Claim]:
    """Return the claims of all papers by id."""
    return {key: claim for paper in papers.values() for key, claim in paper.claims.items()}


def committed(papers: Papers) -> dict[str, Claim]:
    """Return the claims with the same verdict on all machines, so that a run changes no table."""
    claims = claims_of(papers)
    return {key: c for key, c in claims.items() if not claims.get(c.alias_of, c).varies}


def stands_for(claim: Claim, papers: Papers) -> Claim:
    """Return the claim itself or, for an alias, the claim that it stands for."""
    return claims_of(papers)[claim.alias_of] if claim.alias_of else claim


def without(paper: Paper, keys: Iterable[str]) -> Paper:
    """Return a paper with only some of its claims."""
    kept = set(keys)
    return replace(paper, claims={key: claim for key, claim in paper.claims.items() if key in kept})
