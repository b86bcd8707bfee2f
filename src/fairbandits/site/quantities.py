"""What the number of a verdict is: its name and its unit."""

from fairbandits.audit import measures
from fairbandits.audit.expressions import parse
from fairbandits.audit.ledger import Test
from fairbandits.audit.plans import texts_of
from fairbandits.audit.procedures import STATISTICS
from fairbandits.site.audit import Audit, Row

#: Procedures whose number has no unit, whatever they read.
WITHOUT_UNIT = (
    *("growth_exponent", "logarithmic_growth", "proportionality", "proportion"),
    *("universal_comparison", "spread_comparison"),
)


class _Units:
    """Units of the names in checked expressions (`fairbandits.audit.expressions.Vocabulary`)."""

    def check_name(self, name: str) -> str:
        known = measures.measures().get(name)
        return known.unit if known else "rounds" * (name in ("T", "round"))

    def check_call(self, name: str, n_arguments: int) -> None:
        pass

    def check_companion(self, name: str) -> None:
        pass


def unit(test: Test) -> str:
    """Return the unit of what a test finds; empty if it has none, as a share or an exponent."""
    if test.procedure in WITHOUT_UNIT or "ratio" in test.settings:
        return ""
    texts = (
        text
        for name, given in test.inputs.items()
        if name not in ("horizons", "x")
        for text in texts_of(test.procedure, name, given)
    )
    units = list({parse(text).check(_Units()) for text in texts} - {""})
    return units[0] if len(units) == 1 else ""


def quantity(test: Test) -> str:
    """Return the name of what a test finds, with its unit.

    Examples
    --------
    >>> from types import SimpleNamespace as Some
    >>> quantity(Some(procedure="growth_exponent", settings={"of": "ln T"}, inputs={}))
    'growth exponent, in ln T'
    """
    name = STATISTICS[test.procedure]
    if test.procedure == "equivalence":
        name = "ratio of means" if "ratio" in test.settings else "difference of means"
    if of := test.settings.get("of"):
        name += f", in {of}"
    found = unit(test)
    return f"{name} ({found})" if found else name


def test_of(audit: Audit, row: Row) -> Test | None:
    """Return the test behind a row of verdicts or findings."""
    claim = audit.tested(row["claim"])
    return next((one for one in claim.tests if one.name == row["test"]), None)


def quantity_of(audit: Audit, row: Row) -> str:
    """Return the name and unit of a row's number; empty if it has none."""
    test = test_of(audit, row)
    return "" if row["statistic"] is None or test is None else quantity(test)
