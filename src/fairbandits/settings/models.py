"""Models of YAML blocks; their checks are those of hyper-parameters, so messages read alike."""

import difflib
import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    ValidationError,
    model_validator,
)

from fairbandits.policies.parameters import Check, exact, number, one_of, that, whole
from fairbandits.settings.schemas import ConfigError, meant


class Model(BaseModel):
    """A block with known keys, whose comments say what they mean."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)

    #: key -> the keys that must stand beside it
    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, content: Any) -> Any:
        if not isinstance(content, dict):
            return content
        fields = cls.__pydantic_fields__
        known = sorted(field.alias or name for name, field in fields.items())
        unknown = [key for key in content if key not in known and key not in fields]
        if unknown and cls.model_config["extra"] != "allow":
            raise ValueError(f": unknown key {unknown[0]!r}{meant(str(unknown[0]), known)}")
        for key, others in cls.needs.items():
            for other in others:
                missing = key in content and other not in content
                require(not missing, f": {other!r} is a required property beside {key!r}")
        return content


M = TypeVar("M", bound=Model)


def validated(content: Any, model: type[M], where: str, inside: str = "") -> M:
    """Return content as a model, or raise ConfigError for its first departure from it."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        message = _words(error.errors()[0], content, where, inside)
        raise ConfigError(message if len(message) <= 1000 else f"{message[:1000]}...") from None


def _words(error: Mapping[str, Any], content: Any, where: str, inside: str) -> str:
    path = [inside] if inside else []
    for part in error["loc"]:
        if part == "[key]":
            path.pop()
        elif part in content if isinstance(content, dict) else isinstance(part, int):
            path.append(str(part))
            content = content[part]
    at = f"{where}: {'.'.join(path)}" if path else where
    if error["type"] == "missing":
        return f"{at}: {error['loc'][-1]!r} is a required property"
    if error["type"] == "value_error":
        return f"{at}{error['ctx']['error']}"
    text = re.sub(r"^\w+ | or instance of .*| after validation.*", "", error["msg"])
    given, kind = error["input"], error["type"]
    hint = in_quotes(given) if "string" in kind else ""
    if kind == "list_type" and isinstance(given, int | float):
        hint = f"; write a list, such as [{given}]"
    return f"{at} {text}, got {given!r}{hint}"


def in_quotes(value: Any) -> str:
    """Return a message's hint where YAML has read a word or number of another kind: no, 1e3."""
    is_text = isinstance(value, str | list | dict)
    return "" if is_text else "; YAML does not read this as text: write it in quotes"


def expect_known(name: str, known: Iterable[str], message: str, listing: str = "") -> None:
    """Raise ConfigError unless a name is known: these words, and what was meant.

    Where `listing` says what lists the names, those near are given, and not all.
    """
    if name in (names := list(known)):
        return
    if not listing:
        raise ConfigError(f"{message}{meant(name, names)}")
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    raise ConfigError(f"{message}{'; near: ' * bool(near)}{', '.join(near)}; {listing}")


def require(holds: Any, message: str) -> None:
    """Raise ValueError with a message, which begins with the place, unless a condition holds."""
    if not holds:
        raise ValueError(message)


def of(check: Check) -> Any:
    """Return the type of a key that is checked like a hyper-parameter."""
    return Annotated[Any, PlainValidator(lambda value: check("", value, ""))]


def choice(*values: Any) -> Any:
    return of(one_of(*values))


def matching(pattern: str) -> Any:
    rule = f"be a text that matches {pattern}"
    return of(
        that(lambda value: isinstance(value, str) and re.fullmatch(pattern, value), rule, in_quotes)
    )


def expect_unique(values: list, where: str = "") -> list:
    """Return values, or raise ValueError if one is there twice."""
    seen: set[Any] = set()
    for value in values:
        key = value if isinstance(value, Hashable) else repr(value)
        require(key not in seen, f"{where} must have each entry once, got {value!r} twice")
        seen.add(key)
    return values


def either(plain: Any, block: Any) -> Any:
    """Return the type of a value that is written plainly, or as a block."""
    return Annotated[
        Annotated[plain, Tag("plain")] | Annotated[block, Tag("block")],
        Discriminator(lambda value: "block" if isinstance(value, dict | Model) else "plain"),
    ]


Number = of(number())
Exact = of(exact())  # 0.05, "1/3"
Count = of(whole(at_least=1))
Many = of(whole(at_least=1, at_most=1_000_000))
Arms = of(whole(at_least=2, at_most=100_000))
Words = Annotated[str, Field(min_length=1)]
Text = matching("[^<>]*")  # without markup
Name = matching("[a-z0-9_]+")
Slug = matching("[a-z_]+")
Figure = matching(r"fig[0-9]+[a-z]?")
Unique = AfterValidator(expect_unique)
Some = Field(min_length=1)
Pair = Field(min_length=2)
