"""The schemas of hyper-parameters, made from the fields of a policy and its docstring."""

import dataclasses
from typing import Annotated, Any, ClassVar

import pytest
from click.testing import CliRunner

from fairbandits import policies
from fairbandits.cli.main import main
from fairbandits.policies.parameters import (
    Means,
    exact,
    not_zero,
    number,
    one_of,
    per_arm,
    several,
    whole,
)
from fairbandits.settings.checks import check_policy
from fairbandits.settings.policy_schemas import schema, schemas
from fairbandits.settings.schemas import ConfigError


@dataclasses.dataclass(frozen=True)
class Base:
    """A policy.

    Parameters
    ----------
    rate, share : float
        Some number,
        of any size.
    version : {"old", "new"}
        Which ``one``.

    Notes
    -----
    other : int
        Not a parameter.
    """

    rate: float
    version: Annotated[str, one_of("old", "new")] = "old"
    share: float | None = None
    feedback: ClassVar[str] = "bandit"


@dataclasses.dataclass(frozen=True)
class Derived(Base):
    """A policy with more parameters.

    Parameters
    ----------
    means : sequence of float
        True means.
    merit : {"power"}
        As in `BFUCB`.
    sure : bool
        Whether it is.
    """

    version: Annotated[str, one_of("new")] = "new"
    means: Means | None = None
    merit: str = "power"
    sure: bool | None = dataclasses.field(default_factory=lambda: None)


def test_fields_say_what_they_can_be():
    found = schema(Base)
    assert found == {
        "type": "object",
        "additionalProperties": False,
        "required": ["rate"],
        "properties": {
            "rate": {"description": "Some number, of any size.", "type": "number"},
            "version": {"description": "Which `one`.", "enum": ["old", "new"]},
            "share": {"description": "Some number, of any size.", "type": "number"},
        },
    }


def test_a_derived_policy_has_the_fields_of_its_base():
    found = schema(Derived)
    assert found["required"] == ["rate"]
    properties = found["properties"]
    assert list(properties) == ["rate", "version", "share", "means", "merit", "sure"]
    assert properties["version"] == {"description": "Which `one`.", "enum": ["new"]}
    assert properties["means"]["perArm"]
    assert properties["means"]["items"] == {"type": "number", "minimum": 0, "maximum": 1}
    assert properties["merit"]["description"] == "f(x) = x**c or exp(c x)."
    assert properties["sure"] == {"description": "Whether it is.", "type": "boolean"}


@pytest.mark.parametrize(
    ("made", "keywords"),
    [
        (number(), {"type": "number"}),
        (number(at_least=0, below=1), {"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
        (
            number(above=0, at_most=2, null=True),
            {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 2},
        ),
        (whole(at_least=1), {"type": "integer", "minimum": 1}),
        (not_zero("integer"), {"type": "integer", "not": {"const": 0}}),
        (exact(at_least=0), {"type": ["number", "string"], "minimum": 0}),
        (
            per_arm(number(), minItems=2),
            {"perArm": True, "type": "array", "items": {"type": "number"}, "minItems": 2},
        ),
        (
            several(number(), 2, 2),
            {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}},
        ),
    ],
)
def test_parts_of_types(made, keywords):
    assert made.keywords == keywords


@pytest.mark.parametrize("hint", [Any, tuple, int | str, "list[float]"])
def test_a_field_that_does_not_say_what_it_can_be(hint):
    words = {"__doc__": Base.__doc__}
    policy = dataclasses.make_dataclass("Vague", [("rate", hint)], namespace=words)
    with pytest.raises(TypeError, match=r"^Vague\.rate: its type must be float, int, bool or str"):
        schema(policy)


def test_a_field_that_is_not_described():
    policy = dataclasses.make_dataclass("Silent", [("power", float)])
    with pytest.raises(ValueError, match="Silent: the docstring says nothing of parameter power"):
        schema(policy)
    fields = [("other", int, 0)]
    policy = dataclasses.make_dataclass("Silent", fields, bases=(Base,), frozen=True)
    with pytest.raises(ValueError, match="Silent: the docstring says nothing of parameter other"):
        schema(policy)


def test_what_is_no_dataclass():
    with pytest.raises(TypeError, match="int must be a dataclass"):
        schema(int)


def test_the_command_writes_the_file(tmp_path):
    out = tmp_path / "schemas.yaml"
    result = CliRunner().invoke(main, ["schemas", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(out)
    assert out.read_text(encoding="utf-8") == schemas()


def test_a_policy_that_has_no_schema_yet(monkeypatch):
    monkeypatch.setitem(policies.HOMES, "newest", "newest:Newest")
    with pytest.raises(ConfigError, match=r"^here\.policy: 'newest' has no schema yet; run `fairb"):
        check_policy("newest", {}, 2, {}, "here")
