"""The columns of a file in words, and the page of the data dictionary."""

import csv
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from fairbandits.data import dictionary
from fairbandits.data.dictionary import ROWS, Column, column_of
from fairbandits.data.store import StoreError, read_footer
from fairbandits.figures import PAPERS
from fairbandits.report.markup import minus, render_text
from fairbandits.settings.formulas import plain

UNKNOWN = Column(
    "Not in the data dictionary: a policy, an observer or a figure of one's own has it"
)


def describe(path: Path) -> str:
    """Return in words content and columns of one of our Parquet files or committed tables (CSV)."""
    if path.suffix == ".csv":
        kind, columns = _committed(path)
        facts: dict[str, Any] = {}
    else:
        try:
            facts = read_footer(path)
        except StoreError as error:  # without the way out: nothing is to be deleted for a look
            raise StoreError(str(error).partition("; ")[0]) from error
        kind = str(facts.get("kind", "none"))
        if kind not in ROWS:
            raise StoreError(f"{path} is of no kind that the data dictionary has: {kind!r}")
        schema = pq.read_schema(path)
        columns = {field.name: str(field.type) for field in schema}
        facts["rows"] = pq.read_metadata(path).num_rows
    described = [
        (name, type_of, column_of(kind, name, facts) or UNKNOWN)
        for name, type_of in columns.items()
    ]
    given = {"path": path, "kind": kind, "rows": ROWS, "facts": facts, "columns": described}
    return render_text("described.txt", **given)


def _committed(path: Path) -> tuple[str, dict[str, str]]:
    from fairbandits.audit.tables import COMMITTED

    try:
        with path.open(encoding="utf-8", newline="") as file:
            header = tuple(next(csv.reader(file), ()))
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    for kind, columns in COMMITTED.items():
        if header == columns:
            return kind, dict.fromkeys(columns, "text")
    raise StoreError(
        f"{path} is none of the committed tables, audit/verdicts.csv and audit/findings.csv: its "
        f"columns are {', '.join(header) or 'none'}"
    )


_GREEK = "alpha|beta|gamma|delta|Delta|eta|lambda|mu|pi|tau"
#: A symbol of a formula in a docstring: Greek, or a letter that is no word and in no word.
_SYMBOL = (
    r"(?<![a-zA-Z'])(?<!\w\.)(?<!Experiment )"
    rf"(?:{_GREEK}|[b-zB-Z]|[Aa](?=_)|(?<=[-+*/] )A)(?!['a-zA-Z\d]|[-.][a-zA-Z])"
)
#: The rest of a bracket, and its end.
_INSIDE = r"((?:[^()]|\([^()]*\))*)\)"
#: A word of code, or what can be a formula, with spaces and signs around it.
_FORMULA = re.compile(
    rf"`[^`]*`|(?:{_SYMBOL}|\b(?:sum|sqrt|floor|ceil|ln|log|max|min|plays(?=_))(?![a-zA-Z])|\d"
    rf"|in(?= \w\}})|[-+*/^_<>=()|\[\]{{}}]|\.\.+|,(?= {_INSIDE}| \.\.)|(?<=\.), | )+"
)
#: Letters of a terminal -> LaTeX, in this order. Markdown would pair plain stars.
_LATEX = (
    (rf"(?<![a-zA-Z])({_GREEK})(?![a-zA-Z])", r"\\\1"),
    (rf"sqrt\({_INSIDE}", r"\\sqrt{\1}"),
    (rf"(floor|ceil)\({_INSIDE}", r"\\l\1 \2 \\r\1"),
    (r"(?<![a-z\\])(sum|ln|log|max|min)(?![a-z])", r"\\\1"),
    ("<=", r"\\le"),
    (">=", r"\\ge"),
    (r"\^\(([^()]*)\)|\^(-\w)", r"^{\1\2}"),
    (r"(?<=\w)\*", r"^\\ast"),
    (r"\)\+", ")^+"),
    (r"1\.\.t", r"1, \\dots, t"),
    (r"\.\.\.", r"\\dots"),
    (r"\|(.*?)\|", r"\\lvert \1 \\rvert"),
    ("plays", r"\\mathrm{plays}"),
    (" in ", r" \\in "),
)


def in_latex(text: str) -> str:
    r"""Return the text of a docstring with its formulas as LaTeX between dollar signs.

    >>> print(in_latex("Pulls N_i(t) <= floor(alpha t) of an arm, `N_i`"))
    Pulls $N_i(t) \le \lfloor \alpha t \rfloor$ of an arm, `N_i`
    """
    return _FORMULA.sub(lambda found: _typeset(found[0]), text)


def _typeset(found: str) -> str:
    around = r"([ ,]*)(.*?)((?: [-/]| \(|[ ,])*)"
    before, formula, after = re.fullmatch(around, found).groups()
    if found[0] == "`" or not re.search(_SYMBOL, formula):
        return found
    for said, latex in _LATEX:
        formula = re.sub(said, latex, formula)
    return f"{before}${formula}${after}"


def words_of_the_ledgers(text: str) -> str:
    """Return the page of a ledger's words with LaTeX in each second cell."""
    cell = re.compile(r"^(\| `\w+` \| )(.*?)(?= \|(?: |$))", re.MULTILINE)
    return cell.sub(lambda row: row[1] + in_latex(row[2]), text)


def page() -> str:
    shown: dict[tuple[str, str, str], list[str]] = {}
    for paper, figures in PAPERS.items():
        for name, one in figures.items():
            shown.setdefault((paper, one.quantity, one.unit), []).append(name)
    words = {"quantity": "the figure's quantity", "unit": "that of the quantity"}
    drawn = {
        name: one._replace(meaning=one.meaning.format(**words), unit=one.unit.format(**words))
        for name, one in dictionary.DRAWN.items()
    }
    tables = {"recorded": dictionary.RECORDED, "drawn": drawn, "replayed": dictionary.REPLAYED}
    text = render_text(
        "data_dictionary.md",
        rows=ROWS,
        figures=[(*key, names) for key, names in shown.items()],
        cell=lambda text: in_latex(minus(plain(text))).replace("|", "\\|").replace("**", "\\*\\*"),
        tables=tables | {"judged": dictionary.JUDGED, "arena": dictionary.ARENA},
    )
    return f"{text}\n"
