"""Turn a record of the ledger into the data that its procedure judges.

The record's plan (`fairbandits.audit.plans`) says which cells a test reads, over what it is
repeated and stacked, under which readings, and each input as an expression. No paper is known here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairbandits.audit import measures
from fairbandits.audit.cells import Cell
from fairbandits.audit.evidence import Evidence
from fairbandits.audit.expressions import CELLS, ExpressionError, parse
from fairbandits.audit.plans import LITERAL, Plan, Selection
from fairbandits.rationals import rational

#: Data parameters with a value for each replicate, or one number.
EITHER = ("one", "other", "larger", "smaller", "wider", "narrower")
#: Data parameters with a value for each replicate, and those that are one number.
SAMPLES, NUMBERS = ("sample", "outcomes"), ("limit", "value", "most", "least")
#: Data parameters with one number for each point.
POINTS = ("horizons", "x", "limits", "reference")
#: Data parameters that are one number, or in these procedures one for each point.
ENDS, AT_POINTS = ("most", "least", "within"), ("bound_everywhere", "curve_inside")
#: Procedures that take separate replicates at each point, since their number may differ.
APART = ("growth_exponent", "logarithmic_growth", "bounded_remainder", "proportionality")


@dataclass(frozen=True)
class Question:
    """One question that a test puts to its procedure, with the data that answer it.

    `each` names, for reading, the item that the test is repeated for; `coordinates` tell the test's
    questions apart. A question with an empty `reading` counts under all readings of its claim.
    """

    data: Mapping[str, Any]
    each: str = ""
    reading: str = ""
    coordinates: tuple[tuple[str, str], ...] = ()


# --------------------------------------------------------------------------------------- scopes


@dataclass(frozen=True)
class CaseScope:
    """Values of the names in one case's expressions.

    `cell` is None where no run is read. `known` holds coordinates that no cell has, and arm, round
    and reading; `find` returns a cell's companion by name; `group` holds the scopes of all stacked
    cells.
    """

    evidence: Evidence
    cell: Cell | None
    known: Mapping[str, Any]
    find: Callable[[Cell, str], Cell] | None = None
    group: tuple["CaseScope", ...] = ()

    def value(self, name: str) -> Any:
        """Return the value of a name."""
        if name in self.known:
            return self.known[name]
        found = measures.measures().get(name)
        if self.cell is None:
            raise ExpressionError(f"{name!r} needs a cell, and the test names none")
        if found is None:
            try:
                return self.cell.coordinate(name)
            except KeyError:
                raise ExpressionError(
                    f"{self.cell.recorded.experiment.name}: policy {self.cell.run.policy!r} "
                    f"has no {name!r}"
                ) from None
        values = found(self.cell)
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
        found = measures.functions()[name]
        return found.of(self, *arguments) if found.in_cell else found.of(*arguments)


# ------------------------------------------------------------------------------------- questions


def questions(plan: Plan, readings: Sequence[str], evidence: Evidence) -> Iterator[Question]:
    """Yield the questions of a test; ValueError if the recorded runs do not fit the plan."""
    yield from _Asking(plan, readings, evidence).all()


class _Asking:
    """A plan and its evidence."""

    def __init__(self, plan: Plan, readings: Sequence[str], evidence: Evidence) -> None:
        self.plan, self.readings, self.evidence = plan, readings, evidence
        self._companions: dict[str, list[Cell]] = {}
        self.cells = self._cells(plan.cells, plan.columns()) if plan.cells else [None]
        if not self.cells:
            raise ValueError("no cell of its experiments is what the test asks for")
        self._of_replicates = False

    # -------------------------------------------------------------------------- choosing cells

    def _cells(self, chosen: Selection, columns: list[str]) -> list[Cell]:
        return [
            cell
            for name in chosen.experiments
            for recorded in self.evidence.recorded(name, columns)
            for run in recorded.runs
            if self._is_wanted(cell := Cell(self.evidence, recorded, run), chosen)
        ]

    def _is_wanted(self, cell: Cell, chosen: Selection) -> bool:
        for name, wanted in chosen.wanted.items():
            if name == "arm":
                continue
            try:
                found = cell.coordinate(name)
            except KeyError:  # a policy without this parameter
                return False
            if not _is_one_of(found, wanted):
                return False
        if not chosen.where:
            return True
        return bool(np.all(parse(chosen.where).evaluate(self._scope(cell))))

    def _companion(self, cell: Cell, name: str) -> Cell:
        chosen = self.plan.companions[name]
        if name not in self._companions:
            columns = self.plan.columns(name)
            self._companions[name] = self._cells(
                chosen
                if chosen.experiments
                else replace(chosen, experiments=self.plan.cells.experiments),
                columns,
            )
        alike = self._alike(chosen)
        found = [
            other
            for other in self._companions[name]
            if all(_coordinate(other, one) == _coordinate(cell, one) for one in alike)
        ]
        if len(found) != 1:
            given = ", ".join(f"{one} = {_coordinate(cell, one)}" for one in alike)
            raise ValueError(
                f"companion {name!r} must be one cell"
                + (f" for {given}" if given else "")
                + f", got {len(found)}"
            )
        both = min(cell.n_replicates, found[0].n_replicates)
        return replace(found[0], replicates=both) if self.plan.paired else found[0]

    def _alike(self, chosen: Selection) -> list[str]:
        if chosen.match is not None:
            return list(chosen.match)
        return [
            one
            for one in (*self._of_cells(), self.plan.over)
            if one.isidentifier() and one not in chosen.wanted
        ]

    def _limited(self, cell: Cell) -> Cell:
        """Return a cell limited to the replicates that all its companions have."""
        if not self.plan.paired or not self.plan.companions:
            return cell
        used = {place for one in self.plan.expressions for _, place in one.names() if place}
        sizes = [self._companion(cell, name).n_replicates for name in used]
        return replace(cell, replicates=min([cell.n_replicates, *sizes]))

    # ------------------------------------------------------------------------------- the cases

    def _of_cells(self) -> list[str]:
        """Return the coordinates of repetitions that are cells' own."""
        return [
            name
            for name, values in self.plan.each.items()
            if not values and name not in ("arm", "round")
        ]

    def _scope(self, cell: Cell | None, **known: Any) -> CaseScope:
        return CaseScope(self.evidence, cell, known, self._companion)

    def all(self) -> Iterator[Question]:
        """Yield the questions, reading by reading."""
        asked = False
        for reading, group in self._groups():
            for known in self._repeated(group[0]):
                for question in self._asked(reading, group, known):
                    asked = True
                    yield question
        if not asked:
            raise ValueError("no arm or round of its cells is what the test asks for")

    def _groups(self) -> Iterator[tuple[str, list]]:
        """Yield the cells of each case, with its reading (empty for a case under all readings)."""
        found: dict[tuple, dict[str, list]] = {}
        for reading, cells in self._by_reading():
            for cell in cells:
                key = tuple(_coordinate(cell, name) for name in self._of_cells())
                found.setdefault(key, {}).setdefault(reading, []).append(cell)
        # in the order of the readings, whatever cells come first
        for reading in ("", *self.readings):
            for groups in found.values():
                if reading in groups and self._is_of_all(groups):
                    yield "", groups[reading]
                    groups.clear()
                elif reading in groups:
                    yield reading, groups[reading]

    def _is_of_all(self, groups: Mapping[str, list]) -> bool:
        """Whether a case has the same cells, and all their replicates, under all readings."""
        one, *others = ([id(cell) for cell in group] for group in groups.values())
        own = any(name == "reading" for text in self.plan.judged for name, _ in text.names())
        complete = len(self.readings) == len(groups) > 1 and all(one == other for other in others)
        return complete and not own and not self._of_replicates

    def _by_reading(self) -> Iterator[tuple[str, list]]:
        given = self.plan.reading
        if not given:
            yield "", self.cells
            return
        for reading in self.readings:
            if isinstance(given, Mapping):
                if reading not in given:
                    continue
                rule = given[reading]
                if rule is True:
                    yield reading, self.cells
                    continue
                found = []
                for cell in self.cells:
                    holds = parse(rule).evaluate(self._scope(cell, reading=reading))
                    # replicates differ in it: `_kept` selects those that belong
                    self._of_replicates |= np.ndim(holds) == 3 and np.shape(holds)[0] > 1
                    if np.any(holds):
                        found.append(cell)
            else:
                names = [given] if isinstance(given, str) else given
                found = [
                    cell
                    for cell in self.cells
                    if any(_coordinate(cell, name) == reading for name in names)
                ]
            if found:
                yield reading, found

    def _repeated(self, cell: Cell | None) -> Iterator[dict[str, Any]]:
        """Yield the coordinates of each repetition that no cell has."""
        given = {name: values for name, values in self.plan.each.items() if values}
        arm = self.plan.cells.wanted.get("arm") if self.plan.cells else None
        rows: list[dict[str, Any]] = [{} if arm is None else {"arm": arm}]
        for name, values in given.items():
            rows = [{**row, name: value} for row in rows for value in values]
        for row in rows:
            rounds: Iterable[Any] = [None]
            if "round" in self.plan.each:
                found = parse(self.plan.rounds).evaluate(self._scope(self._limited(cell), **row))
                places = self._scope(cell).at(cell.rounds[None, :, None], np.ravel(found))
                rounds = dict.fromkeys(places.ravel().tolist())
            for t in rounds:
                more = row if t is None else {**row, "round": t}
                if "arm" not in self.plan.each or "arm" in more:
                    yield more
                    continue
                scope = self._scope(cell, **more)
                chosen = np.asarray(
                    parse(self.plan.arms).evaluate(scope) if self.plan.arms else True
                )
                if t is not None and chosen.ndim == 3:
                    chosen = scope.at(chosen, t)
                chosen = np.broadcast_to(chosen, (1, 1, cell.spec.n_arms)).ravel()
                for k in np.flatnonzero(chosen).tolist():
                    yield {**more, "arm": k + 1}

    def _asked(
        self, reading: str, group: list[Cell | None], known: dict[str, Any]
    ) -> Iterator[Question]:
        plan = self.plan
        scopes = []
        for cell in group:
            used = self._limited(cell) if cell is not None else None
            extra = {"reading": reading} if reading else {}
            scopes.append(self._scope(used, **known, **extra))
        if plan.over:
            place = parse(plan.over)
            scopes.sort(key=lambda scope: _as_number(place.evaluate(scope)))
            sizes = [_as_number(place.evaluate(scope)) for scope in scopes]
            if len(set(sizes)) < len(sizes):
                raise ValueError(
                    f"cells that are stacked must differ in {plan.over}, got {sizes}; "
                    "what else they differ in has to be among `each`"
                )
            if plan.is_joint:
                scopes = [replace(scopes[0], group=tuple(scopes))]
        elif len(scopes) > 1 and plan.procedure != "invariant":
            names = [f"{one.cell.recorded.experiment.name}/{one.cell.run.name}" for one in scopes]
            raise ValueError(f"a case must be one cell, got {len(names)}: {', '.join(names[:4])}")
        data = self._data(scopes)
        if data is None:
            return
        where = {name: _coordinate(group[0], name) for name in self._of_cells()} | known
        ordered = {name: where[name] for name in plan.each}
        coordinates = tuple((name, str(value)) for name, value in ordered.items())
        each = ", ".join(_in_words(name, value) for name, value in ordered.items())
        yield Question(data, each, reading, coordinates)

    # -------------------------------------------------------------------------------- the data

    def _data(self, scopes: list[CaseScope]) -> dict[str, Any] | None:
        plan = self.plan
        if plan.procedure == "invariant":
            return self._pooled(scopes)
        data = {}
        for name, given in plan.inputs.items():
            if name in LITERAL or (name == "printed" and plan.procedure == "printed_number"):
                data[name] = given
                continue
            parts = given if isinstance(given, list) else [given]
            found = [self._one(one, scope) for scope in scopes for one in parts]
            data[name] = _fitted(plan.procedure, name, found)
        return _completed(plan.procedure, data)

    def _pooled(self, scopes: list[CaseScope]) -> dict[str, Any] | None:
        """Return the excesses of all cells of a case, concatenated, and their scale."""
        excess, scales = [], []
        given = self.plan.inputs["excess"]
        parts = given if isinstance(given, list) else [given]
        for scope in scopes:
            scale = np.asarray(self._one(self.plan.inputs.get("scale", 1.0), scope), float)
            for part in parts:
                found = np.asarray(self._one(part, scope))
                excess.append(found.ravel())
                scales.append(np.broadcast_to(scale, found.shape).ravel())
        joined = np.concatenate(excess)
        if not joined.size:
            return None
        if joined.dtype == bool:
            joined = joined.astype(int)
        data: dict[str, Any] = {"excess": joined}
        if "scale" in self.plan.inputs:
            data["scale"] = np.concatenate(scales)
        return data

    def _one(self, given: Any, scope: CaseScope) -> Any:
        if not isinstance(given, str):
            return given
        found = parse(given).evaluate(scope)
        return self._kept(found, scope)

    def _kept(self, found: Any, scope: CaseScope) -> Any:
        """Return a value limited to the replicates that `keep` selects."""
        if np.ndim(found) != 3 or found.shape[0] == 1:
            return found
        rules = [self.plan.keep]
        if isinstance(self.plan.reading, Mapping):
            rules.append(self.plan.reading.get(scope.known.get("reading"), ""))
        for rule in rules:
            if isinstance(rule, str) and rule:
                meant = np.asarray(parse(rule).evaluate(scope))
                if meant.ndim == 3:
                    found = found[np.broadcast_to(meant[:, 0, 0], len(found))]
        return found


def _coordinate(cell: Cell | None, name: str) -> Any:
    try:
        return cell.coordinate(name)
    except KeyError:
        raise ValueError(
            f"{cell.recorded.experiment.name}: policy {cell.run.policy!r} has no {name!r}"
        ) from None


def _as_number(value: Any) -> float:
    return float(np.asarray(value, float).reshape(()))


def _is_one_of(found: Any, wanted: Any) -> bool:
    values = wanted if isinstance(wanted, list) else [wanted]
    return any(
        found == (rational("a coordinate", one) if _is_fraction(one, found) else one)
        for one in values
    )


def _is_fraction(wanted: Any, found: Any) -> bool:
    return isinstance(wanted, str) and not isinstance(found, str) and found is not None


def _in_words(name: str, value: Any) -> str:
    if name == "arm":
        return f"arm {value}"
    if name == "round":
        return f"t = {value}"
    if isinstance(value, str):
        return value.replace("_", " ")
    if name == "tolerance":
        return f"alpha = {value}"
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"


def _fitted(procedure: str, name: str, parts: list[Any]) -> Any:
    """Return values in the form that a procedure's data parameter requires."""
    arrays = [np.asarray(one) for one in parts]
    if name == "samples":
        columns = [column for one in arrays for column in _columns(one)]
        if procedure in APART:
            return columns
        sizes = {len(one) for one in columns}
        if len(sizes) > 1:
            raise ValueError(f"points must have the same replicates, got {sorted(sizes)}")
        return np.stack(columns, axis=1)
    of_points = procedure in AT_POINTS and name in (*ENDS, "printed")
    if name in POINTS or of_points:
        found = np.concatenate([one.reshape(-1) for one in arrays])
        return float(found[0]) if of_points and found.size == 1 else found
    (one,) = arrays
    if one.size == 1 and name in (*NUMBERS, *EITHER, "printed"):
        return float(one.reshape(()))
    if one.ndim != 3 or one.shape[1:] != (1, 1):
        raise ValueError(
            f"{name} must have one value for each replicate, got (replicates, rounds, arms) = "
            f"{one.shape}; choose a round with @, and an arm"
        )
    return one[:, 0, 0]


def _completed(procedure: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return data with single numbers repeated for all points or replicates."""
    if procedure == "bound_everywhere" and data["limits"].size == 1:
        return data | {"limits": np.repeat(data["limits"], data["samples"].shape[1])}
    if procedure == "paired_comparison" and np.ndim(data["larger"]) == 0:
        return data | {"larger": np.full(np.shape(data["smaller"]), data["larger"])}
    return data


def _columns(one: np.ndarray) -> list[np.ndarray]:
    """Return the replicates at each round, or arm, of an array."""
    if one.ndim != 3:
        raise ValueError(f"samples must be of recorded runs, got {one.ndim} axes")
    flat = one.reshape(len(one), -1)
    return list(flat.T)
