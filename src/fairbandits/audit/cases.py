"""From the cells of recorded runs to the values that a procedure judges.

The cells that a test reads are one table. `cells` and `where` of a record choose rows, `reading`
repeats them under readings, `each` groups them to cases, `with` finds each row's companions, `over`
sorts the rows of a case. Each input of the procedure is an expression, evaluated in the case.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from fairbandits.audit import measures
from fairbandits.audit.cells import COORDINATES, Cell, Evidence
from fairbandits.audit.expressions import CELLS, ExpressionError, parse
from fairbandits.audit.plans import Plan, Selection, is_literal
from fairbandits.rationals import rational

#: Data parameters with one number for each point, and those of which one number is for all.
POINTS, ENDS = ("horizons", "printed", "within"), ("most", "least", "within")
#: Coordinates in which a control differs because its policy does.
OF_POLICY = ("policy", "label", "feedback")


@dataclass(frozen=True)
class Question:
    """One question that a test puts to its procedure, with the data that answer it."""

    data: Mapping[str, Any]
    each: str = ""  # the item that the test is repeated for
    reading: str = ""  # empty under all readings of the claim
    coordinates: tuple[tuple[str, str], ...] = ()  # that tell the test's questions apart
    control: Mapping[str, Any] | None = None  # the same data of the control's cells


@dataclass(frozen=True)
class CaseScope:
    """Values of the names in one case's expressions (`fairbandits.audit.expressions.Scope`)."""

    evidence: Evidence
    cell: Cell | None  # None where no run is read
    known: Mapping[str, Any]  # coordinates that no cell has: arm, round, reading, given ones
    find: Callable[[Cell, str], Cell] | None = None  # a cell's companion by name
    group: tuple["CaseScope", ...] = ()  # the scopes of all stacked cells

    def value(self, name: str) -> Any:
        """Return the value of a name."""
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
        """Return the scope of the companion of this name."""
        return replace(self, cell=self.find(self.cell, name), group=())

    def stacked(self) -> tuple["CaseScope", ...]:
        """Return the scopes of all cells that are stacked, in their order."""
        if not self.group:
            raise ExpressionError(f"{CELLS}(x) needs cells that are stacked: see `over`")
        return self.group

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
        """Return a function's value."""
        return measures.functions()[name].called(self, arguments)


def questions(plan: Plan, readings: Sequence[str], evidence: Evidence) -> Iterator[Question]:
    """Yield the questions of a test, reading by reading; ValueError if the runs do not fit it."""
    cases = Cases(plan, readings, evidence)
    asked = False
    for reading, cells in cases.groups():
        for known in cases.repetitions(cells[0]):
            data = _data(plan, cases.scopes(reading, cells, known))
            if data is None:
                continue
            asked, control = True, None
            if plan.control:
                control = _data(plan, cases.scopes(reading, cases.controls(cells), known))
            where = {name: cells[0].coordinate(name) for name in plan.of_cells} | known
            where = {name: where[name] for name in plan.each}
            each = ", ".join(_in_words(name, value) for name, value in where.items())
            coordinates = tuple((name, str(value)) for name, value in where.items())
            yield Question(data, each, reading, coordinates, control)
    if not asked:
        raise ValueError("no arm or round of its cells is what the test asks for")


class Cases:
    """The cells that a plan reads, as a table; without cells it has one row, with None in it."""

    def __init__(self, plan: Plan, readings: Sequence[str], evidence: Evidence) -> None:
        self.plan, self.readings, self.evidence = plan, readings, evidence
        self._others: dict[tuple[str, bool], tuple[list[str], pd.DataFrame]] = {}
        self._controls: list[Cell] | None = None
        self._of_replicates = False
        self.table = pd.DataFrame({"cell": [None]})
        if plan.cells:
            self.table = self._chosen(plan.cells, plan.columns(), plan.of_cells)
        if self.table.empty:
            raise ValueError("no cell of its experiments is what the test asks for")

    def scope(self, cell: Cell | None, **known: Any) -> CaseScope:
        """Return the scope of a cell."""
        return CaseScope(self.evidence, cell, known, self._companion)

    def _chosen(
        self, selection: Selection, columns: list[str], coordinates: Sequence[str]
    ) -> pd.DataFrame:
        """Return the table of the cells of a selection, with these coordinates."""
        cells = [
            cell
            for name in selection.experiments
            for recorded in self.evidence.recorded(name, columns)
            for run in recorded.runs
            if self._is_wanted(cell := Cell(self.evidence, recorded, run), selection)
        ]
        values = {name: [cell.coordinate(name) for cell in cells] for name in coordinates}
        return pd.DataFrame({"cell": cells, **values}, dtype=object)

    def _is_wanted(self, cell: Cell, selection: Selection) -> bool:
        wanted = {name: values for name, values in selection.wanted.items() if name != "arm"}
        for name, values in wanted.items():
            if not (cell.has(name) and _is_one_of(cell.coordinate(name), values)):
                return False
        where = selection.where
        return not where or bool(np.all(parse(where).evaluate(self.scope(cell))))

    # ------------------------------------------------------------------------------ companions

    def _companion(self, cell: Cell, name: str) -> Cell:
        """Return a cell's companion, the one row that is like it; a control has its cell's."""
        own = self.plan.control.companions if cell.stands_for else self.plan.companions
        if name not in own:
            return self._paired(cell, self._companion(cell.stands_for, name))
        key = name, cell.stands_for is None
        if key not in self._others:
            self._others[key] = self._companions(name, own[name])
        alike, others = self._others[key]
        values = {one: cell.coordinate(one) for one in alike}
        for one, value in values.items():
            # compared one by one: None is None, and a list is one value
            others = others[np.array([found == value for found in others[one]], bool)]
        if len(others) != 1:
            given = ", ".join(f"{one} = {value}" for one, value in values.items())
            words = f"companion {name!r} must be one cell" + f" for {given}" * bool(given)
            raise ValueError(f"{words}, got {len(others)}")
        return self._paired(cell, *others["cell"])

    def _paired(self, cell: Cell, other: Cell) -> Cell:
        both = min(cell.n_replicates, other.n_replicates)
        return replace(other, replicates=both) if self.plan.paired else other

    def controls(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the controls of a case's cells; of a control swept over more, all is stacked."""
        found = [self._like(cell) for cell in cells]
        if self.plan.over and all(found) and any(len(some) > 1 for some in found):
            pairs = zip(found, cells, strict=True)
            first = {id(one): (one, cell) for some, cell in pairs for one in some}
            found, cells = (
                [[one] for one, _ in first.values()],
                [cell for _, cell in first.values()],
            )
        made = []
        for some, cell in zip(found, cells, strict=True):
            if len(some) != 1:
                place = f"{cell.recorded.experiment.name}/{cell.run.name}"
                raise ValueError(f"the control of {place} must be one cell, got {len(some)}")
            both = min(some[0].n_replicates, cell.n_replicates)
            made.append(replace(some[0], replicates=both, stands_for=cell))
        return made

    def _like(self, cell: Cell) -> list[Cell]:
        control, plan = self.plan.control.cells, self.plan
        if self._controls is None:
            selection = replace(control, experiments=control.experiments or plan.cells.experiments)
            self._controls = list(self._chosen(selection, plan.columns(), ())["cell"])
        alike = {"law", plan.over, *plan.of_cells} & COORDINATES.keys()
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

        return [one for one in self._controls if is_like(one)]

    def _companions(self, name: str, selection: Selection) -> tuple[list[str], pd.DataFrame]:
        """Return the coordinates that cells share with companions of a name, and these."""
        alike = (*self.plan.of_cells, self.plan.over)
        if not selection.experiments:
            selection = replace(selection, experiments=self.plan.cells.experiments)
        alike = [one for one in alike if one.isidentifier() and one not in selection.wanted]
        alike = alike if selection.match is None else list(selection.match)
        return alike, self._chosen(selection, self.plan.columns(name), alike)

    def limited(self, cell: Cell | None) -> Cell | None:
        """Return a cell limited to the replicates that all its companions have."""
        if cell is None or not self.plan.paired or not self.plan.companions:
            return cell
        used = {place for one in self.plan.expressions for _, place in one.names() if place}
        sizes = [self._companion(cell, name).n_replicates for name in used]
        return replace(cell, replicates=min([cell.n_replicates, *sizes]))

    # ---------------------------------------------------------------------- readings and cases

    def groups(self) -> Iterator[tuple[str, list[Cell | None]]]:
        """Yield the cells of each case, with its reading (empty for a case under all readings)."""
        table = self._under_readings()
        grouped = table.groupby(self.plan.of_cells or (lambda row: 0), sort=False, dropna=False)
        cases = [rows.groupby("reading", sort=False)["cell"].agg(list) for _, rows in grouped]
        cases = [dict(case) for case in cases]
        # in the order of the readings, whatever cells come first
        for reading in ("", *self.readings):
            for case in cases:
                if reading in case and self._is_of_all(case):
                    yield "", case[reading]
                    case.clear()
                elif reading in case:
                    yield reading, case[reading]

    def _under_readings(self) -> pd.DataFrame:
        """Return the table with a row for each cell and each reading that it belongs to."""
        if not self.plan.reading:
            return self.table.assign(reading="")
        parts = [
            self.table[[self._belongs(cell, reading) for cell in self.table["cell"]]].assign(
                reading=reading
            )
            for reading in self.readings
        ]
        return pd.concat(parts, ignore_index=True) if parts else self.table[:0].assign(reading="")

    def _belongs(self, cell: Cell, reading: str) -> bool:
        given = self.plan.reading
        if not isinstance(given, Mapping):
            names = [given] if isinstance(given, str) else given
            return any(cell.coordinate(name) == reading for name in names)
        rule = given.get(reading, False)
        if isinstance(rule, bool):
            return rule
        holds = parse(rule).evaluate(self.scope(cell, reading=reading))
        # replicates differ in it: `_kept` selects those that belong
        self._of_replicates |= np.ndim(holds) == 3 and np.shape(holds)[0] > 1
        return bool(np.any(holds))

    def _is_of_all(self, case: Mapping[str, list]) -> bool:
        """Whether a case has the same cells, and all their replicates, under all readings."""
        one, *others = ([id(cell) for cell in cells] for cells in case.values())
        own = any(name == "reading" for text in self.plan.judged for name, _ in text.names())
        complete = len(self.readings) == len(case) > 1 and all(one == other for other in others)
        return complete and not own and not self._of_replicates

    # --------------------------------------------------------------- repetitions and stacking

    def repetitions(self, cell: Cell | None) -> Iterator[dict[str, Any]]:
        """Yield the coordinates of each repetition of a case that no cell has."""
        given = {name: values for name, values in self.plan.each.items() if values}
        if self.plan.cells and "arm" in self.plan.cells.wanted:
            given = {"arm": [self.plan.cells.wanted["arm"]]} | given
        for values in product(*given.values()):
            known = dict(zip(given, values, strict=True))
            for at in self._rounds(cell, known):
                for arm in self._arms(cell, known | at):
                    yield known | at | arm

    def _rounds(self, cell: Cell | None, known: dict[str, Any]) -> list[dict[str, int]]:
        if "round" not in self.plan.each:
            return [{}]
        found = parse(self.plan.rounds).evaluate(self.scope(self.limited(cell), **known))
        recorded = self.scope(cell).at(cell.rounds[None, :, None], np.ravel(found))
        return [{"round": t} for t in dict.fromkeys(recorded.ravel().tolist())]

    def _arms(self, cell: Cell | None, known: dict[str, Any]) -> list[dict[str, int]]:
        if "arm" not in self.plan.each or "arm" in known:
            return [{}]
        scope = self.scope(cell, **known)
        chosen = np.asarray(parse(self.plan.arms).evaluate(scope) if self.plan.arms else True)
        if "round" in known and chosen.ndim == 3:
            chosen = scope.at(chosen, known["round"])
        chosen = np.broadcast_to(chosen, (1, 1, cell.spec.n_arms)).ravel()
        return [{"arm": k + 1} for k in np.flatnonzero(chosen).tolist()]

    def scopes(
        self, reading: str, cells: Sequence[Cell | None], known: dict[str, Any]
    ) -> list[CaseScope]:
        """Return the scopes of a case: of its one cell, or of the cells that are stacked."""
        plan = self.plan
        known = known | ({"reading": reading} if reading else {})
        scopes = [self.scope(self.limited(cell), **known) for cell in cells]
        if not plan.over:
            if len(scopes) > 1 and not plan.is_pooled:
                found = [one.cell for one in scopes]
                names = [f"{one.recorded.experiment.name}/{one.run.name}" for one in found]
                listed = ", ".join(names[:4])
                raise ValueError(f"a case must be one cell, got {len(names)}: {listed}")
            return scopes
        place = parse(plan.over)
        sized = [(float(np.asarray(place.evaluate(one), float).item()), one) for one in scopes]
        sized.sort(key=lambda pair: pair[0])
        sizes, scopes = ([pair[k] for pair in sized] for k in (0, 1))
        if len(set(sizes)) < len(sizes):
            raise ValueError(
                f"cells that are stacked must differ in {plan.over}, got {sizes}; "
                "what else they differ in has to be among `each`"
            )
        return [replace(scopes[0], group=tuple(scopes))] if plan.is_joint else scopes


def _is_one_of(found: Any, wanted: Any) -> bool:
    """Return whether a coordinate is a value, or one of several; text can be a fraction."""
    number = not isinstance(found, str) and found is not None
    return any(
        found == (rational("a coordinate", one) if number and isinstance(one, str) else one)
        for one in (wanted if isinstance(wanted, list) else [wanted])
    )


def _in_words(name: str, value: Any) -> str:
    if name == "arm":
        return f"arm {value}"
    if isinstance(value, str):
        return value.replace("_", " ")
    name = {"round": "t", "tolerance": "alpha"}.get(name, name)
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"


# ------------------------------------------------------------------------------------- values


def _data(plan: Plan, case: Sequence[CaseScope]) -> dict[str, Any] | None:
    return pooled(plan, case) if plan.is_pooled else fitted(plan, case)


def pooled(plan: Plan, case: Sequence[CaseScope]) -> dict[str, Any] | None:
    """Return the values of all cells of a case, one after the other, and their scale."""
    values, scales = [], []
    for scope in case:
        scale = np.asarray(_value(plan, plan.inputs.get("scale", 1.0), scope), float)
        for part in _listed(plan.inputs["values"]):
            found = np.asarray(_value(plan, part, scope))
            values.append(found.ravel())
            scales.append(np.broadcast_to(scale, found.shape).ravel())
    joined = np.concatenate(values)
    if not joined.size:
        return None
    data = {"values": joined.astype(int) if joined.dtype == bool else joined}
    return data | ({"scale": np.concatenate(scales)} if "scale" in plan.inputs else {})


def fitted(plan: Plan, case: Sequence[CaseScope]) -> dict[str, Any]:
    """Return the inputs of a case in the form that its procedure requires."""
    data = {}
    for name, given in plan.inputs.items():
        if is_literal(plan.procedure, name):
            data[name] = given
        else:
            parts = [_value(plan, one, scope) for scope in case for one in _listed(given)]
            data[name] = _fitted(plan.procedure, name, [np.asarray(one) for one in parts])
    if plan.procedure == "mean" and np.ndim(data["values"]) == 0:
        data["values"] = np.full(np.shape(data["against"]), data["values"])
    return data


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _value(plan: Plan, given: Any, scope: CaseScope) -> Any:
    """Return the value of an input, limited to the replicates that `keep` and reading select."""
    if not isinstance(given, str):
        return given
    found = parse(given).evaluate(scope)
    if np.ndim(found) != 3 or found.shape[0] == 1:
        return found
    rules = [plan.keep]
    if isinstance(plan.reading, Mapping):
        rules.append(plan.reading.get(scope.known.get("reading"), ""))
    for rule in rules:
        if isinstance(rule, str) and rule:
            holds = np.asarray(parse(rule).evaluate(scope))
            if holds.ndim == 3:
                found = found[np.broadcast_to(holds[:, 0, 0], len(found))]
    return found


def _fitted(procedure: str, name: str, parts: list[np.ndarray]) -> Any:
    """Return values in the form that a procedure's data parameter requires."""
    if name in POINTS or name in ENDS:
        found = np.concatenate([one.reshape(-1) for one in parts])
        return float(found[0]) if found.size == 1 and name != "horizons" else found
    if procedure == "exact":  # a number computed again
        (one,) = parts
        return float(one.reshape(()))
    drawn = [len(one) for one in parts if one.ndim == 3 and len(one) > 1]
    if not drawn:
        if procedure != "mean":
            raise ValueError(f"{name} must be of recorded runs, got {parts[0].ndim} axes")
        found = np.concatenate([one.reshape(-1) for one in parts])
        return float(found[0]) if found.size == 1 else found
    if procedure == "slope":  # their number may differ
        return [column for one in parts for column in one.reshape(len(one), -1).T]
    if len(set(drawn)) > 1:
        raise ValueError(f"points must have the same replicates, got {sorted(set(drawn))}")
    # the replicates at each round, or arm, of each array; numbers are the same in all
    columns = [
        column
        for one in parts
        for column in np.broadcast_to(
            one.reshape(len(one), -1) if one.ndim == 3 else one.reshape(1, -1),
            (drawn[0], one.size // len(one) if one.ndim == 3 else one.size),
        ).T
    ]
    if procedure == "share" and len(columns) > 1:
        raise ValueError(
            f"{name} must have one value for each replicate, got (replicates, rounds, arms) = "
            f"{parts[0].shape}; choose a round with @, and an arm"
        )
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
