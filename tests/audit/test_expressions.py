"""Expressions of a ledger: what is allowed, what they are worth, and which units fit."""

from fractions import Fraction

import numpy as np
import pytest

from fairbandits.audit.expressions import (
    ExpressionError,
    Vocabulary,
    called,
    evaluate,
    names_in,
    parse,
    same_unit,
    unit_of,
)


class Plain:
    """A scope with two measures of shape (2, 3, 2), some coordinates and one companion."""

    rounds = np.array([1, 10, 100])

    def __init__(self, factor=1):
        self.values = {
            "x": factor * np.arange(12.0).reshape(2, 3, 2),
            "n": factor * np.arange(12).reshape(2, 3, 2),
            "T": 100,
            "alpha": Fraction(1, 2),
            "law": "beta",
        }

    def value(self, name):
        return self.values[name]

    def companion(self, name):
        return Plain(10)

    def at(self, value, rounds):
        wanted = np.ravel(rounds)
        return value[:, np.searchsorted(self.rounds, wanted, side="right") - 1]

    def call(self, name, arguments):
        return {"max": np.maximum, "total": lambda x: x.sum(axis=2, keepdims=True)}[name](
            *arguments
        )


UNITS = {"plays": "pulls", "reward": "reward", "rate": "reward per round", "T": "rounds"}
WORDS = Vocabulary(
    UNITS | {"x": "", "law": ""}, {"max": (1, 9), "mean": (1, 1), "log": (1, 1)}, ["lfg"], {}
)


def value(text):
    return evaluate(parse(text), Plain())


def test_arithmetic_is_that_of_arrays():
    x = np.arange(12.0).reshape(2, 3, 2)
    np.testing.assert_array_equal(value("2 * x - x / 4 + 1"), 2 * x - x / 4 + 1)
    np.testing.assert_array_equal(value("-x ** 2"), -(x**2))
    np.testing.assert_array_equal(value("max(x, 5)"), np.maximum(x, 5))
    assert value("1 / 4 + T") == 100.25


def test_a_round_is_the_last_recorded_one_up_to_it():
    x = np.arange(12.0).reshape(2, 3, 2)
    np.testing.assert_array_equal(value("x @ T"), x[:, [2]])
    np.testing.assert_array_equal(value("x @ (T / 2)"), x[:, [1]])
    np.testing.assert_array_equal(value("x @ [1, T / 10, 99]"), x[:, [0, 1, 1]])
    np.testing.assert_array_equal(value("(x @ T) / T"), x[:, [2]] / 100)


def test_companions_have_their_own_values():
    x = np.arange(12.0).reshape(2, 3, 2)
    np.testing.assert_array_equal(value("x[lfg] @ T - x @ T"), 9 * x[:, [2]])


def test_whole_numbers_stay_whole_and_fractions_exact():
    assert value("n * 2 - 3").dtype.kind == "i"
    assert value("n + 2 * alpha").dtype.kind == "i"  # 2 * 1/2 is the whole number 1
    assert value("n - alpha").dtype.kind == "f"
    assert value("alpha == 1 / 2")
    assert value("alpha + alpha") == 1


def test_comparisons_and_logic():
    x = np.arange(12.0).reshape(2, 3, 2)
    np.testing.assert_array_equal(value("2 <= x < 5 and not n == 3"), (x >= 2) & (x < 5) & (x != 3))
    assert value("law == 'beta' or x > 1")
    assert value("law in ['beta', 'bernoulli']")
    assert not value("law not in ['beta']")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x.shape", "Attribute is not allowed"),
        ("x[0]", "what stands in brackets is a companion"),
        ("x[0:1]", "what stands in brackets is a companion"),
        ("(x + 1)[lfg]", "what stands in brackets is a companion"),
        ("_x + 1", "names do not start with underscores"),
        ("__import__('os')", "names do not start with underscores"),
        ("max(x, key=1)", "without keywords"),
        ("max.real(x)", "a call is name"),
        ("lambda: 1", "Lambda is not allowed"),
        ("[y for y in x]", "ListComp is not allowed"),
        ("x if x else 1", "IfExp is not allowed"),
        ("x // 2", "FloorDiv is not allowed"),
        ("x is x", "Is is not allowed"),
        ("~x", "Invert is not allowed"),
        ("{1: 2}", "Dict is not allowed"),
        ("True", "neither a number nor text"),
        ("b'1'", "neither a number nor text"),
        ("1j", "neither a number nor text"),
        ("x +", "is no expression"),
        ("x; y", "is no expression"),
        ("", "is no expression"),
        ("x @ T / 10", "write x @ (T / 10), or (x @ T) / 10"),
        ("x @ T ** 2", "needs parentheses before '**'"),
        ("max(x @ T * 2, 1)", "needs parentheses before '*'"),
        ("x @ [1, T] / 10", "needs parentheses before '/'"),
        ("x @ max(1, log(ceil(T + 1))) / 10", "needs parentheses before '/'"),
    ],
)
def test_what_is_not_allowed_is_refused(text, words):
    with pytest.raises(ExpressionError) as error:
        parse(text)
    assert words in str(error.value)


@pytest.mark.parametrize("text", ["x @ (T / 10)", "(x @ T) / 10", "x @ log(T) - 1", "x @ [1, T]"])
def test_what_is_clear_is_allowed(text):
    parse(text)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("plays + 3", "pulls"),
        ("0.05 * rate", "reward per round"),
        ("reward @ T", "reward"),
        ("reward / T", "reward per round"),
        ("rate * T - reward", "reward"),
        ("rate * plays", "reward"),
        ("max(reward, 0)", "reward"),
        ("reward[lfg] - reward", "reward"),
        ("log(T) * plays", ""),
        ("rate >= 0.5", ""),
    ],
)
def test_units(text, unit):
    assert unit_of(parse(text), WORDS) == unit


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plays + reward", "units do not fit: pulls and reward"),
        ("rate >= reward", "units do not fit: reward and reward per round"),
        ("max(plays, T)", "units do not fit: pulls and rounds"),
        ("reward @ plays", "what stands after @ is a round, got pulls"),
        ("regrets @ T", "no measure or coordinate 'regrets'"),
        ("mode(x)", "no function 'mode'"),
        ("reward[flg]", "no companion 'flg'"),
        ("[reward, plays]", "units do not fit"),
    ],
)
def test_names_and_units_that_do_not_fit(text, words):
    with pytest.raises(ExpressionError) as error:
        unit_of(parse(text), WORDS)
    assert words in str(error.value)


def test_names_tell_which_companion_they_are_of():
    names = sorted(names_in(parse("max(x[lfg], y) + mean(z @ (T / 2))")))
    assert names == [("T", ""), ("x", "lfg"), ("y", ""), ("z", "")]
    assert sorted(called(parse("max(x, mean(y))"))) == ["max", "mean"]


def test_the_unit_of_none():
    assert same_unit(["", ""]) == ""
    assert same_unit(["pulls", "", "pulls"]) == "pulls"
