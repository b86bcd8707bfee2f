"""From cells of recorded runs, as a record chooses and groups them, to the judged values."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from typing import Any

import numpy as np

from fairbandits.audit import measures
from fairbandits.audit.cells import COORDINATES, Cell, Evidence
from fairbandits.audit.claims import Test, listed
from fairbandits.audit.expressions import CELLS, ExpressionError, evaluate, names_in, parse
from fairbandits.data.provenance import remembered
from fairbandits.rationals import rational
from fairbandits.settings.records import Cells, Companion

#: Inputs that are numbers, whatever the runs.
NUMBERS = ("horizons", "printed", "within", "most", "least")
#: Coordinates in which a control differs because its policy does.
OF_POLICY = ("policy", "label", "feedback")


@dataclass(frozen=True)
class Question:
    """One question that a test puts to its procedure, with the data that answer it.

    There are no data if no arm, round or replicate of the test's cells is what it asks for.
    """

    data: Mapping[str, Any]
    each: str = ""  # the item that the test is repeated for
    reading: str = ""  # empty under all readings of the claim
    control: Mapping[str, Any] | None = None  # the same data of the control's cells


@dataclass(frozen=True)
class CaseScope:
    """Values of the names in one case's expressions (`fairbandits.audit.expressions.Scope`)."""

    evidence: Evidence
    cell: Cell | None  # None where no run is read
    known: Mapping[str, Any]  # coordinates that no cell has: arm, round, reading, given ones
    find: Callable[[Cell, str], Cell] | None = None  # a cell's companion by name
    group: tuple["CaseScope", ...] = ()  # the scopes of all stacked cells
    joined: dict[tuple, Any] | None = None  # what these have side by side, kept for repetitions

    def value(self, name: str) -> Any:
        if name in self.known:
            return self.known[name]
        if self.cell is None:
            raise ExpressionError(f"{name!r} needs a cell, and the test names none")
        if name not in measures.measures():
            return self.cell.coordinate(name)
        values = measures.measures()[name].measured(self.cell)
        if "arm" in self.known and values.shape[2] > 1:
            values = values[:, :, [self.known["arm"] - 1]]
        return values

    def companion(self, name: str) -> "CaseScope":
        return replace(self, cell=self.find(self.cell, name), group=())

    def stacked(self) -> tuple[tuple["CaseScope", ...], dict[tuple, Any]]:
        if not self.group:
            raise ExpressionError(f"{CELLS}(x) needs cells that are stacked: see `over`")
        return self.group, self.joined

    def at(self, value: Any, rounds: Any) -> Any:
        """Return a value at the last recorded round at or before each of the given rounds."""
        if np.ndim(value) == 0 or value.shape[1] == 1:
            return value
        if value.shape[1] != self.cell.rounds.size:
            raise ExpressionError(
                f"what is at a round must have the rounds of its cell, {self.cell.rounds.size}, "
                f"got {value.shape[1]}; take each of two cells' values at the round by itself"
            )
        wanted = np.ravel(np.asarray(rounds, float))
        # at least the first: a short run may not have recorded so early a round
        places = np.searchsorted(self.cell.rounds, wanted * (1 + 1e-12), side="right") - 1
        return value[:, np.maximum(places, 0)]

    def call(self, name: str, arguments: list[Any]) -> Any:
        """Return a function's value; what needs no run is counted once and kept."""
        word = measures.functions()[name]
        if not word.is_common and (most := self.evidence.config.most):  # at a small scale
            for k, (own, one) in enumerate(zip(word.names, arguments, strict=False)):
                if type(one) is int:
                    arguments[k] = min(one, most.get(own, one))
        plain = all(isinstance(one, int | float | str | Fraction) for one in arguments)
        if not plain or not _needs_no_run(word):
            return word.called(self, arguments)
        known = remembered(f"words-{self.evidence.paper}", "")
        seeds = [self.evidence.seed for _ in word.found]
        key = " ".join([name, *map(repr, [*arguments, *seeds]), _libraries()])
        if key in known:
            kind, shape, values = known[key]
            return np.array(values, kind).reshape(shape)
        found = word.called(self, arguments)
        if isinstance(found, np.ndarray) and found.dtype.kind in "biuf":
            known[key] = [found.dtype.str, found.shape, found.ravel().tolist()]
        return found


def _needs_no_run(word: measures.Word) -> bool:
    """Whether it is mathematics of its own: nothing but its arguments, and a seed, decides it."""
    own = word.of.__module__.startswith((f"{measures.__name__}.", "fairbandits.theory."))
    return own and not word.is_common and not word.varies and word.found.keys() <= {"seed"}


@cache
def _libraries() -> str:
    """Return the versions that such a word's value can depend on besides our code."""
    found = [sys.version]
    for name in ("numpy", "scipy", "sympy"):
        with suppress(PackageNotFoundError):  # sympy, beside the library alone
            found.append(f"{name} {version(name)}")
    return " ".join(found)


def questions(test: Test, readings: Sequence[str], evidence: Evidence) -> Iterator[Question]:
    """Yield the questions of a test, reading by reading; ValueError if the runs do not fit it.

    If the data meet its condition nowhere, there is one question without data.
    """
    cases = Cases(test, readings, evidence)
    values = _pooled if test.is_pooled else _fitted
    asked = False
    for reading, cells in cases.groups():
        given, own, others = {"reading": reading} if reading else {}, None, None
        for known in cases.repetitions(cells[0]):
            own = own or cases.stacked(cells, given)
            if data := values(test, cases.scopes(*own, known | given)):
                asked, control = True, None
                if test.control:
                    others = others or cases.stacked(cases.controls(cells), given)
                    control = values(test, cases.scopes(*others, known | given))
                where = {name: cells[0].coordinate(name) for name in test.of_cells} | known
                each = ", ".join(_in_words(name, where[name]) for name in test.each)
                yield Question(data, each, reading, control)
    if not asked:
        yield Question({})


class Cases:
    """The cells that a test reads; one None for a test that reads none."""

    def __init__(self, test: Test, readings: Sequence[str], evidence: Evidence) -> None:
        self.test, self.readings, self.evidence = test, readings, evidence
        self._others: dict[tuple[str, bool], dict[tuple, list[Cell]]] = {}  # companions by name
        self._of_replicates = False
        self.cells = self._chosen(test.cells, test.columns()) if test.cells else [None]
        if not self.cells:
            raise ValueError("no cell of its experiments is what the test asks for")

    def scope(self, cell: Cell | None, **known: Any) -> CaseScope:
        return CaseScope(self.evidence, cell, known, self._companion)

    def _chosen(self, selection: Cells, columns: list[str]) -> list[Cell]:
        """Return the cells of a selection, by default of the experiments of the test's cells."""
        cells = (
            Cell(recorded, run)
            for name in selection.experiments or self.test.cells.experiments
            for recorded in self.evidence.recorded(name, columns)
            for run in recorded.runs
        )
        return [cell for cell in cells if self._is_wanted(cell, selection)]

    def _is_wanted(self, cell: Cell, selection: Cells) -> bool:
        wanted = ((name, values) for name, values in selection.wanted.items() if name != "arm")
        fits = (
            cell.has(one) and _is_one_of(cell.coordinate(one), values) for one, values in wanted
        )
        where = selection.where
        return all(fits) and (not where or np.all(evaluate(parse(where), self.scope(cell))))

    def _companion(self, cell: Cell, name: str) -> Cell:
        """Return a cell's companion, the one cell that is like it; a control has its cell's."""
        own = self.test.control.companions if cell.stands_for else self.test.companions
        if name in own:
            other = self._like(cell, name, own[name])
        else:
            other = self._companion(cell.stands_for, name)
        return _paired(other, cell) if self.test.paired else other

    def _like(self, cell: Cell, name: str, selection: Companion) -> Cell:
        alike = selection.match
        if alike is None:
            alike = [*self.test.of_cells, self.test.over]
            alike = [one for one in alike if one.isidentifier() and one not in selection.wanted]
        others = self._others.setdefault((name, cell.stands_for is None), defaultdict(list))
        if not others:
            for one in self._chosen(selection, self.test.columns(name)):
                others[_key(one, alike)].append(one)
        found = others.get(_key(cell, alike), [])
        if len(found) != 1:
            given = ", ".join(f"{one} = {cell.coordinate(one)}" for one in alike)
            words = f"companion {name!r} must be one cell" + f" for {given}" * bool(given)
            raise ValueError(f"{words}, got {len(found)}")
        return found[0]

    def limited(self, cell: Cell | None) -> Cell | None:
        """Return a cell limited to the replicates that all its companions have."""
        if cell is None or not self.test.paired or not self.test.companions:
            return cell
        used = {place for one in self.test.expressions for _, place in names_in(one) if place}
        return _paired(cell, *(self._companion(cell, name) for name in used))

    def controls(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the controls of a case's cells; of a control swept over more, all is stacked."""
        pairs = [(self._controls_of(cell), cell) for cell in cells]
        sizes = {len(own) for own, _ in pairs}
        if self.test.over and 0 not in sizes and sizes != {1}:
            pairs = list({id(one): ([one], cell) for own, cell in pairs for one in own}.values())
        for own, cell in pairs:
            if len(own) != 1:
                raise ValueError(f"the control of {cell.place} must be one cell, got {len(own)}")
        return [replace(_paired(own, cell), stands_for=cell) for (own,), cell in pairs]

    @cached_property
    def _all_controls(self) -> list[Cell]:
        return self._chosen(self.test.control, self.test.columns())

    def _controls_of(self, cell: Cell) -> list[Cell]:
        control = self.test.control
        alike = {"law", self.test.over, *self.test.of_cells} & COORDINATES.keys()
        # in other experiments only what is asked for
        alike |= set() if control.experiments else {"experiment"}
        another = control.wanted.keys() & {"policy", "label"}
        alike = alike - set(OF_POLICY) if another else alike | {"policy"}
        alike = (alike | {*(control.match or ())}) - control.wanted.keys()

        def is_like(one: Cell) -> bool:
            swept = one.run.cell.keys() & cell.run.cell.keys() - control.wanted.keys()
            return all(one.run.cell[name] == cell.run.cell[name] for name in swept) and all(
                one.coordinate(name) == cell.coordinate(name) for name in alike
            )

        return [one for one in self._all_controls if is_like(one)]

    def groups(self) -> Iterator[tuple[str, list[Cell | None]]]:
        """Yield the cells of each case, with its reading (empty for a case under all readings)."""
        cases: dict[tuple, dict[str, list[Cell | None]]] = {}
        for reading in self.readings if self.test.reading else [""]:
            for cell in self.cells:
                if not reading or self._belongs(cell, reading):
                    case = cases.setdefault(_key(cell, self.test.of_cells), {})
                    case.setdefault(reading, []).append(cell)
        # in the order of the readings, whatever cells come first
        for reading in ("", *self.readings):
            for case in cases.values():
                if reading in case and self._is_of_all(case):
                    yield "", case[reading]
                    case.clear()
                elif reading in case:
                    yield reading, case[reading]

    def _belongs(self, cell: Cell, reading: str) -> bool:
        given = self.test.reading
        if not isinstance(given, Mapping):
            return any(cell.coordinate(name) == reading for name in listed(given))
        rule = given.get(reading, False)
        if isinstance(rule, bool):
            return rule
        holds = evaluate(parse(rule), self.scope(cell, reading=reading))
        # replicates differ in it: `_value` selects those that belong
        self._of_replicates |= np.ndim(holds) == 3 and np.shape(holds)[0] > 1
        return bool(np.any(holds))

    def _is_of_all(self, case: Mapping[str, list]) -> bool:
        """Whether a case has the same cells, and all their replicates, under all readings."""
        one, *others = ([id(cell) for cell in cells] for cells in case.values())
        own = any(name == "reading" for text in self.test.judged for name, _ in names_in(text))
        complete = len(self.readings) == len(case) > 1 and all(one == other for other in others)
        return complete and not own and not self._of_replicates

    def repetitions(self, cell: Cell | None) -> Iterator[dict[str, Any]]:
        """Yield the coordinates of each repetition of a case that no cell has."""
        each = self.test.each
        given = {name: values for name, values in each.items() if values}
        if self.test.cells and "arm" in self.test.cells.wanted:
            given = {"arm": [self.test.cells.wanted["arm"]]} | given
        for values in product(*given.values()):
            known = dict(zip(given, values, strict=True))
            for at in self._rounds(cell, known) if "round" in each else [{}]:
                alone = "arm" in known or "arm" not in each
                for arm in [{}] if alone else self._arms(cell, known | at):
                    yield known | at | arm

    def _rounds(self, cell: Cell, known: dict[str, Any]) -> list[dict[str, int]]:
        found = evaluate(parse(self.test.rounds), self.scope(self.limited(cell), **known))
        recorded = self.scope(cell).at(cell.rounds[None, :, None], found)
        return [{"round": t} for t in sorted({*recorded.ravel().tolist()})]

    def _arms(self, cell: Cell, known: dict[str, Any]) -> list[dict[str, int]]:
        scope = self.scope(cell, **known)
        chosen = np.asarray(evaluate(parse(self.test.arms), scope) if self.test.arms else True)
        if "round" in known and chosen.ndim == 3:
            chosen = scope.at(chosen, known["round"])
        chosen = np.broadcast_to(chosen, (1, 1, cell.spec.n_arms)).ravel()
        return [{"arm": k + 1} for k in np.flatnonzero(chosen).tolist()]

    def stacked(self, cells: Sequence[Cell | None], known: dict[str, Any]) -> tuple[list, dict]:
        """Return the cells of a case in the order of stacking, and what its repetitions share."""
        cells, over = [self.limited(cell) for cell in cells], self.test.over
        if over:
            scopes = [self.scope(cell, **known) for cell in cells]
            sizes = [float(np.asarray(evaluate(parse(over), one)).item()) for one in scopes]
            if len(set(sizes)) < len(sizes):
                raise ValueError(
                    f"cells that are stacked must differ in {over}, got {sorted(sizes)}; "
                    "what else they differ in has to be among `each`"
                )
            cells = [cells[k] for k in np.argsort(sizes)]
        return cells, {}

    def scopes(self, cells: list, joined: dict, known: dict[str, Any]) -> list[CaseScope]:
        """Return the scopes of a case: of its one cell, or of the cells that are stacked."""
        test, scopes = self.test, [self.scope(cell, **known) for cell in cells]
        if test.over and test.is_joint:
            return [replace(scopes[0], group=tuple(scopes), joined=joined)]
        if len(scopes) > 1 and not (test.over or test.is_pooled):
            listed = ", ".join(one.cell.place for one in scopes[:4])
            raise ValueError(f"a case must be one cell, got {len(scopes)}: {listed}")
        return scopes


def _paired(cell: Cell, *others: Cell) -> Cell:
    """Return a cell limited to the replicates that others have too."""
    least = min(one.n_replicates for one in (cell, *others))
    return cell if least == cell.n_replicates else replace(cell, replicates=least)


def _key(cell: Cell | None, names: Sequence[str]) -> tuple:
    values = (cell.coordinate(name) for name in names)
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)


def _is_one_of(found: Any, wanted: Any) -> bool:
    """Return whether a coordinate is a value, or one of several; text can be a fraction."""
    number = not isinstance(found, str) and found is not None
    return any(
        found == (rational("a coordinate", one) if number and isinstance(one, str) else one)
        for one in listed(wanted)
    )


def _in_words(name: str, value: Any) -> str:
    if isinstance(value, str) and name != "arm":
        return value.replace("_", " ")
    name = {"arm": "arm ", "round": "t = ", "tolerance": "alpha = "}.get(name, f"{name} = ")
    return f"{name}{value:g}" if isinstance(value, float) else f"{name}{value}"


def _pooled(test: Test, case: Sequence[CaseScope]) -> dict[str, Any]:
    """Return the values of all cells of a case, one after the other, and their scale; or none."""
    values, scales = [], []
    for scope in case:
        scale = np.asarray(_value(test, test.inputs.get("scale", 1.0), scope), float)
        for part in listed(test.inputs["values"]):
            values.append(np.asarray(_value(test, part, scope)))
            scales.append(np.broadcast_to(scale, values[-1].shape))
    joined = np.concatenate(values, axis=None)
    if not joined.size:
        return {}
    data = {"values": joined.astype(int) if joined.dtype == bool else joined}
    return data | ({"scale": np.concatenate(scales, axis=None)} if "scale" in test.inputs else {})


def _fitted(test: Test, case: Sequence[CaseScope]) -> dict[str, Any]:
    data = {}
    for name, given in test.inputs.items():
        if name == "printed" and test.procedure == "exact":  # with its digits
            data[name] = given
        else:
            parts = [_value(test, one, scope) for scope in case for one in listed(given)]
            parts = [np.asarray(one) for one in parts]
            if not all(one.size for one in parts):  # `keep` selects no replicate
                return {}
            data[name] = _shaped(test.procedure, name, parts)
    if test.procedure == "mean" and np.ndim(data["values"]) == 0:
        data["values"] = np.full(np.shape(data["against"]), data["values"])
    return data


def _value(test: Test, given: Any, scope: CaseScope) -> Any:
    """Return the value of an input, limited to the replicates that `keep` and reading select."""
    if not isinstance(given, str):
        return given
    found = evaluate(parse(given), scope)
    if np.ndim(found) != 3 or found.shape[0] == 1:
        return found
    rules = [test.keep]
    if isinstance(test.reading, Mapping):
        rules.append(test.reading.get(scope.known.get("reading"), ""))
    for rule in rules:
        if isinstance(rule, str) and rule:
            holds = np.asarray(evaluate(parse(rule), scope))
            if holds.ndim == 3:
                found = found[np.broadcast_to(holds[:, 0, 0], len(found))]
    return found


def _shaped(procedure: str, name: str, parts: list[np.ndarray]) -> Any:
    is_fact = name in NUMBERS
    if procedure == "exact" and not is_fact:  # a number computed again
        (one,) = parts
        return float(one.item())
    drawn = [len(one) for one in parts if one.ndim == 3 and len(one) > 1]
    if not drawn and procedure != "mean" and not is_fact:
        raise ValueError(f"{name} must be of recorded runs, got {parts[0].ndim} axes")
    if not drawn or is_fact:
        flat = np.concatenate([one.ravel() for one in parts])
        return float(flat[0]) if flat.size == 1 and name != "horizons" else flat
    if procedure == "slope":  # their number may differ
        return [column for one in parts for column in one.reshape(len(one), -1).T]
    if len(set(drawn)) > 1:
        raise ValueError(f"points must have the same replicates, got {sorted(set(drawn))}")
    # the replicates at each round, or arm, of each array; numbers are the same in all
    rows = [one.reshape(len(one) if one.ndim == 3 else 1, -1) for one in parts]
    rows = [np.broadcast_to(one, (drawn[0], one.shape[1])) for one in rows]
    columns = [column for one in rows for column in one.T]
    if procedure == "share" and len(columns) > 1:
        raise ValueError(
            f"{name} must have one value for each replicate, got (replicates, rounds, arms) = "
            f"{parts[0].shape}; choose a round with @, and an arm"
        )
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
