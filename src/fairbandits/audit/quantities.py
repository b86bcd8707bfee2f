"""The number of a finding in words: whose, of what, in which unit, and which way is more."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.audit import measures
from fairbandits.audit.claims import Claim, Ledger, Test, listed
from fairbandits.audit.expressions import (
    UNITS,
    ExpressionError,
    called,
    names_in,
    parse,
    unit_of,
)
from fairbandits.numerals import RAISED, measured, significant
from fairbandits.settings.records import Cells
from fairbandits.settings.schemas import read_yaml

#: Procedures whose number has no unit.
WITHOUT_UNIT = ("slope", "share", "curve")
#: Functions whose value is an element of their first argument.
PARTS = ("of_arm", "of_group", "per_group", "arms_of_group", "least_of_group", "protected")
#: Names of procedures' numbers, of measures and functions.
NAMES = read_yaml(Path(__file__).with_suffix(".yaml"))
#: Words of whole expressions, by their trees; they can end with the unit.
WHOLE = {ast.dump(parse(text)): words for text, words in NAMES["expressions"].items()}
UNIT = re.compile(f", in ({'|'.join(UNITS)})$")
OPERATORS: dict[type, str] = {
    **{ast.Add: " + ", ast.Sub: " − ", ast.Mult: " × ", ast.Div: " / ", ast.Pow: "^"},
    **{ast.Lt: " < ", ast.LtE: " ≤ ", ast.Gt: " > ", ast.GtE: " ≥ ", ast.Eq: " = "},
    **{ast.NotEq: " ≠ ", ast.In: " in ", ast.NotIn: " not in ", ast.And: " and ", ast.Or: " or "},
}
BY = " divided by "
FIXED = (ast.Constant, ast.UnaryOp)  # a number, of any sign
#: Words of a function that need brackets around a sum: all without a sign of their own.
OF = re.compile(r"[\w {}]{3,}$")
#: Columns whose values tell cells apart by themselves.
TOLD = ("law", "instance", "surrogate_index")
#: How tightly operators bind, from 0; a sum is below 3, and what is not among them is above.
TIGHT: dict[type, int] = {ast.Or: 0, ast.And: 0, ast.Compare: 1, ast.Add: 2, ast.Sub: 2}
TIGHT |= {ast.MatMult: 3, ast.Mult: 4, ast.Div: 4, ast.Pow: 5}


class Quantity(NamedTuple):
    """Name and unit of a finding's number."""

    name: str  # like ``penalised regret of UCB1 minus that of HT-UCB``
    unit: str
    above: str  # like ``UCB1 has more``, what a number above its reference means

    def value(self, row: Mapping[str, Any]) -> str:
        """Return a row's number: how many of all, yes or no, or a number; empty without one."""
        number = row["statistic"]
        if number is None or not self.right:
            return measured(number)
        broken = (row.get("also") or {}).get("broken", max(number, 0.0))
        if self.right == "none":
            return f"{significant(broken)} of {significant(row['n'])}"
        return "yes" if broken else "no"

    @property
    def right(self) -> str:
        """Return the words for a number that is as claimed; empty if any number can be."""
        is_asked = self.name.startswith("whether ")
        return "none" if self.name in NAMES["counted"] else "no" * is_asked

    def __str__(self) -> str:
        is_said = self.unit == "pulls" and re.match(r"(mean |largest )?pulls\b", self.name)
        is_said = is_said or self.name.endswith(f" in {self.unit}")
        return f"{self.name}, in {self.unit}" if self.unit and not is_said else self.name


def unit(test: Test) -> str:
    """Return the unit of a test's findings; empty for a share or an exponent."""
    if test.procedure in WITHOUT_UNIT or "ratio" in test.settings:
        return ""
    # compared inputs have the same unit; a limit without one fits any
    units = set(map(_unit, test.texts("values"))) | set(map(_unit, test.texts("against"))) - {""}
    return units.pop() if len(units) == 1 else ""


def _unit(text: str) -> str:
    tree = parse(text)
    if said := UNIT.search(WHOLE.get(ast.dump(tree), "")):
        return said[1]
    if any(isinstance(one, ast.Pow) for one in ast.walk(tree)):
        return ""  # the unit of a power is another
    whole = _without(tree, ast.Call)
    names = list(names_in(whole))
    try:
        return unit_of(whole, measures.vocabulary(dict(names), {place for _, place in names}))
    except ExpressionError:
        return ""


def quantity(test: Test, ledger: Ledger, row: Mapping[str, Any] | None = None) -> Quantity:
    """Return name and unit of a test's number; in a `row` with a limit, of the values alone."""
    said, inputs, procedure = _Words(test, ledger), test.inputs, test.procedure
    claimed = test.settings.get("claim", "")
    above = NAMES["above"].get(procedure) or NAMES["above"].get(claimed, "")
    is_bound = test.is_bound or "limit" in ((row or {}).get("against") or {})
    if procedure == "mean" and (claimed == "equal" or not is_bound):
        between = BY if "ratio" in test.settings else " minus "
        name, above = said.compared(inputs["values"], inputs["against"], between)
        above = above or NAMES["above"].get(claimed, f"above {said.inside(inputs['against'])}")
    elif "printed" in inputs and procedure == "exact":
        name, above = said.of(inputs["values"]), ""
    else:
        words = said.of if procedure == "share" else said.inside
        given = {key: words(value) for key, value in inputs.items()}
        given |= {"variable": said.in_which()} if "horizons" in inputs else {}
        name = NAMES["procedures"][procedure].format(**given)
    name = name.replace("with in which", "in which")
    name = re.sub(r"\b(largest|mean)( \1)+\b|largest (?=whether |1 minus )", r"\1", name)
    name = name if (counted := name.removeprefix("largest ")) not in NAMES["counted"] else counted
    name = re.sub(
        r"\^(−?\d)(?![\d.])", lambda power: power[1].replace("−", "-").translate(RAISED), name
    )
    name = re.sub(r"\((difference between [^()]*)\)$", r"\1", name)
    return Quantity(name, unit(test), above)


def quantity_of(row: Mapping[str, Any], tested: Claim, ledger: Ledger) -> Quantity | None:
    """Return name and unit of a row's number, if it has one."""
    if row["statistic"] is None:
        return None
    own = (one for one in tested.tests if one.name == row["test"])
    return next((quantity(one, ledger, row) for one in own if one.rule == row["rule"]), None)


def p_value(value: float | None) -> str:
    """Return a p-value as it is read everywhere, without ``p``; empty if there is none.

    >>> p_value(2.2e-308), p_value(0.01234), p_value(None)
    ('< 0.0001', '= 0.012', '')
    """
    if value is None:
        return ""
    return "< 0.0001" if value < 1e-4 else f"= {value:.2g}"


def p_of_claim(row: Mapping[str, Any], tested: Claim, ledger: Ledger) -> str:
    """Return the p-value of a claim's verdict, and whether it is adjusted; empty without any."""
    if row["p"] is None:
        return ""
    found = f"p {p_value(row['p'])}"
    if tested.family and ledger.families[tested.family].correction == "holm":
        return f"{found} (adjusted by Holm's method for all claims of its family)"
    return found


class _Words:
    """The expressions of one test as words."""

    def __init__(self, test: Test, ledger: Ledger) -> None:
        self.test, self.labels, self.paper = test, ledger.labels, ledger.paper

    def compared(self, one: Any, other: Any, between: str) -> tuple[str, str]:
        """Return ``A BETWEEN B`` with common words once, and the meaning of A being larger."""
        if own := NAMES["differences"].get(f"{one} - {other}"):
            return tuple(own)
        if other == 0:
            return self.of(one), "it is positive"
        texts = isinstance(one, str) and isinstance(other, str)
        apart = self._of_others(one, other) if texts else None
        if apart is None:
            return between.join((self.inside(one), self.inside(other))), ""
        same, first, second = apart
        more = f"{first[3:]} has more" if first.startswith("of ") else f"more {first}"
        return f"{same} {first}{between}{_that(same)} {second}", more

    def _of_others(self, one: str, other: str) -> tuple[str, str, str] | None:
        """Return the common part of two expressions, and each one's own; None if there is none."""
        trees = [parse(text) for text in (one, other)]
        same = [self._node(_without(tree, ast.Subscript)) for tree in trees]
        if same[0] == same[1]:
            places = [self._measured(text) for text in (one, other)]
            if [len(found) for found in places] == [1, 1]:
                (first,), (second,) = places
                chosen = self._selection(first)
                keys = chosen.where, *chosen.experiments, f"{chosen.experiments[-1]} {second}"
                owners = map(NAMES["pairs"].get, keys)
                whose = self._whose(first, second), self._whose(second, first)
                whose = next(filter(None, owners), whose)
                return (same[0], *whose) if whose[0] != whose[1] else None
        if self._measured(one) == self._measured(other):
            same = [self._node(_without(tree, ast.MatMult)) for tree in trees]
            rounds = [_rounds(tree) for tree in trees]
            if same[0] == same[1] and [len(found) for found in rounds] == [1, 1]:
                return same[0], *(_round(found[0]) + self._node(found[0]) for found in rounds)
        return None

    def _measured(self, text: str) -> list[str]:
        """Return the companions whose measures an expression uses."""
        known = measures.measures()
        return list(dict.fromkeys(place for name, place in names_in(parse(text)) if name in known))

    def _selection(self, companion: str) -> Cells:
        own = self.test.cells or Cells()
        chosen = self.test.companions[companion] if companion else own
        return chosen.model_copy(update={"experiments": chosen.experiments or own.experiments})

    def _label(self, companion: str) -> str:
        """Return the label of the one policy of some cells; empty if they have several."""
        chosen = self._selection(companion)
        policies = listed(chosen.wanted.get("policy", ()))
        apart = re.match(r"policy not in \[([^]]*)\]", chosen.where or "")
        named = listed(chosen.wanted.get("label", ())) or [
            label
            for experiment in chosen.experiments
            for policy, label in self.labels.get(experiment, {}).items()
            if not policies or policy in policies
            if not apart or repr(policy) not in apart[1]
        ]
        return NAMES["labels"].get(named[0], named[0]) if len(set(named)) == 1 else ""

    def _whose(self, companion: str, other: str) -> str:
        """Return the owner of some cells, in words that tell them from another companion's."""
        label, beside = self._label(companion), self._label(other)
        named = re.sub(", (.*)", r" (\1)", f"of {label}") if label and label != beside else ""
        if named and beside:
            return named
        chosen, others = self._selection(companion), self._selection(other)
        facts = [
            _value(value) if name in TOLD else _valued(name, _value(value))
            for name, value in chosen.wanted.items()
            if name not in ("policy", "label", "arm") and not isinstance(value, list)
            if others.wanted.get(name) != value
        ]
        varied = (chosen.where or "").split()[:1] == (others.where or "").split()[:1]
        if (companion or varied) and not facts and chosen.where and chosen.where != others.where:
            facts = [self.of(chosen.where)]
        if facts:
            return f"{named} with {', '.join(facts)}".lstrip()
        own, theirs = chosen.experiments, others.experiments
        if label and label == beside and len(own) == 1 and own != theirs:
            return f"in {_value(own[0])}"
        return named or f"of {_value(companion) or 'the policy'}"

    def of(self, value: Any) -> str:
        """Return the words of an input: a number, an expression, or several of these."""
        if isinstance(value, list):
            each = list(dict.fromkeys(map(self.inside, value)))
            return ", or ".join(each) if len(each) <= 3 else f"{each[0]}, …, {each[-1]}"
        return self._node(parse(value)) if isinstance(value, str) else _value(value)

    def inside(self, value: Any) -> str:
        """Return the words of an input within others: a sum or a condition has brackets."""
        return self._inside(parse(value)) if isinstance(value, str) else self.of(value)

    def _inside(self, node: ast.AST, tight: int = 3) -> str:
        return f"({self._node(node)})" if self._binds(node) < tight else self._node(node)

    def _binds(self, node: ast.AST) -> int:
        if ast.dump(node) in WHOLE:
            return 7
        match node:
            case ast.BinOp(left=left, op=ast.MatMult(), right=right) if not self._at(right):
                return self._binds(left)
            case ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(op=ast.Sub())]):
                return 1
            case ast.Call(func=ast.Name(id="where" | "choose")):
                return 0
            case ast.Call(func=ast.Name(id=name), args=[one, *_]):
                words = NAMES["functions"].get(name, "of")
                return self._binds(one) if words == "{}" else 6 if OF.match(words) else 7
        return TIGHT.get(type(getattr(node, "op", node)), 7)

    def _node(self, node: ast.AST) -> str:
        if words := WHOLE.get(ast.dump(node)):
            return UNIT.sub("", words)
        match node:
            case ast.Constant(value=value):
                return _value(value)
            case ast.Name(id="N") if self.paper == "ht_ucb":
                return "K"
            case ast.Name(id=name):
                return _named(name)
            case ast.Subscript(value=ast.Name() as value, slice=ast.Name(id=companion)):
                return f"{self._node(value)} {self._whose(companion, '')}"
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self._node(left) + self._at(right)
            case ast.BinOp(left=left, op=op, right=right):
                own = TIGHT[type(op)]
                first = self._inside(left, 7 if isinstance(op, ast.Pow) else own)
                second = self._inside(right, own + isinstance(op, ast.Sub | ast.Div))
                return f"{first}{OPERATORS[type(op)]}{second}"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"not {self._node(operand)}"
            case ast.UnaryOp(operand=operand):
                return f"−{self._inside(operand)}"
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return f"{self._node(left)}{OPERATORS[type(op)]}{self._node(right)}"
            case ast.BoolOp(op=op, values=values):
                return OPERATORS[type(op)].join(map(self._node, values))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, arguments)
            case ast.List(elts=values):
                return re.sub(r", (?=[^,]*$)", " and ", ", ".join(map(self._node, values)))
        return ast.unparse(node)

    def _call(self, name: str, arguments: list[ast.expr]) -> str:
        if name == "ratio":
            return self.compared(*map(ast.unparse, arguments), BY)[0]
        match name, arguments:
            case "abs", [ast.BinOp(left=left, op=ast.Sub(), right=right)]:
                plain = not any(isinstance(one, ast.Div) for one in ast.walk(arguments[0]))
                if plain and (apart := self._of_others(*map(ast.unparse, (left, right)))):
                    same, first, second = apart
                    return f"difference between {same} {first} and {_that(same)} {second}"
                return f"difference between {self._inside(left)} and {self._inside(right)}"
            case "where", [when, what, ast.Constant() | ast.UnaryOp()] if not isinstance(
                what, FIXED
            ):
                return f"{self._inside(what)} where {self._node(when)}"
            case "means_of" | "targets_of", [_, arm]:
                return f"{NAMES['functions'][name]} of arm {self._node(arm)}"
        if words := NAMES["functions"].get(name):
            within = self._inside if OF.match(words) else self._node
            said = words.format(*map(within, arguments), over=_named(self.test.over))
            return re.sub(r"( of the arms of group \d[^)]*) over the arms$", r"\1", said)
        what = measures.functions()[name].what.rstrip(".").replace("`", "")
        return what[:1].lower() + what[1:]

    def _at(self, rounds: ast.expr) -> str:
        if isinstance(rounds, ast.Call) or ast.unparse(rounds) in ("T", "round"):
            return ""  # those of the case itself
        return f" {_round(rounds)}{self._node(rounds)}"

    def in_which(self) -> str:
        """Return the variable of a test's growth, as ``, in N``; empty if it has no name."""
        given = self.test.inputs["horizons"]
        if not isinstance(given, str):
            return ""
        known = parse(given)
        words = {*called(known), *dict(names_in(known))}
        is_round = words & {"logspaced", "last_decade", "t"}
        return f", in {'t' if is_round else self._node(known)}"


def _without(tree: ast.expr, kind: type[ast.AST]) -> ast.expr:
    """Return an expression without companions, rounds or `PARTS`: subscripts, @ or calls."""

    class Plain(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            super().generic_visit(node)
            match node:
                case ast.Subscript(value=value) if kind is ast.Subscript:
                    return value
                case ast.BinOp(left=left, op=op) if isinstance(op, kind):
                    return left
                case ast.Call(func=func, args=[first, *_]) if kind is ast.Call and func.id in PARTS:
                    return first
            return node

    return Plain().visit(ast.parse(ast.unparse(tree), mode="eval").body)


def _rounds(tree: ast.expr) -> list[ast.expr]:
    found = [one.right for one in ast.walk(tree) if isinstance(getattr(one, "op", 0), ast.MatMult)]
    return list({ast.unparse(one): one for one in found}.values())


def _round(rounds: ast.expr) -> str:
    return "at rounds " if isinstance(rounds, ast.List) else "at round "


def _that(same: str) -> str:
    return "those" if re.match(r"(expected )?pulls\b(?!.* / )", same) else "that"


def _named(name: str) -> str:
    return NAMES["measures"].get(name, name.replace("_", " "))


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return NAMES["cases"].get(value, str(value).replace("_", " "))


def _valued(name: str, value: str) -> str:
    """Return the words of a coordinate's value."""
    form = NAMES["valued"].get(f"{name}-" if value[:1] in "-−" else name)
    return form.format(value.lstrip("-−")) if form else f"{_named(name)} = {value}"


def test_name(name: str) -> str:
    """Return the name of a test as readers know it.

    >>> test_name("longer_than_fair_ucb")
    'longer than Fair-UCB'
    """
    for key, word in NAMES["words"].items():
        name = re.sub(rf"(?<![a-z0-9]){key}(?![a-z0-9])", word, name)
    return name.replace("_", " ")


def case(each: str) -> str:
    """Return the name of a finding's case as readers know it.

    >>> case("N = 5, tau = 0.2, lfg uncapped")
    "5 arms, sum of quotas 0.2, LFG's index not cut off"
    >>> case("edge, ")  # an experiment without instances
    'the smallest rates of Theorem 1'
    """
    each = re.sub(r"\bN = (\d+)", r"\1 arms", each)
    parts = (part.partition(" = ") for part in each.split(", ") if part)
    is_whole = re.compile(r"-?\d+").fullmatch
    return ", ".join(
        _valued(name, significant(int(value)) if is_whole(value) else value)
        if value
        else _value(name.replace(" ", "_"))
        for name, _, value in parts
    )
