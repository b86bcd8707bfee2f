"""The kit of all pages: HTML that notebooks show, templates, links and tables."""

import base64
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.defaults import DEFAULT_NAMESPACE
from markupsafe import Markup

from fairbandits.numerals import number, significant
from fairbandits.settings.formulas import FORMULA, plain

#: Pages without a notebook: `fairbandits.report.listing` makes them.
GENERATED = ("claims", "robustness")
#: A hyphen that stands for the minus sign of a number.
_MINUS = re.compile(r"(?<![\w.)\]-])-(?=\d)")
#: The space between two groups of a number's digits, and in a range: ``[0, 2μ]``.
_INSIDE = re.compile(r"(?<=\d) (?=\d{3}(?!\d))|(?<=\[\d,) (?=[^\s\]]+\])")
_GREEK = "alpha α, beta β, gamma γ, delta δ, Delta Δ, eta η, lambda λ, mu μ, Omega Ω, pi π, tau τ"
_WORDS = [
    (rf"(?<![\w-]){name}(?![a-zA-Z0-9-])", sym) for name, sym in map(str.split, _GREEK.split(","))
]
_INDICES = [
    (rf"\b(\w)_{index}(?!\w)", rf"\1{sub}") for index, sub in zip("ijk01", "ᵢⱼₖ₀₁", strict=True)
]
#: An index for which there is no letter, and a power as `in_symbols` writes it: ``T^(3/4)``.
_INDEX = re.compile(r"\b([^\W\d_])_(\w)(?![A-Za-z0-9_])")
_POWER = re.compile(r"\^(?:\(((?:[^()]|\([^()]*\))+)\)|([a-z]{2,}\([^()]*\)|−?\w+(?:\.\d+)?|\+))")
#: What `plain` writes in letters of any terminal -> its symbol.
_SYMBOLS = (
    *_WORDS,
    (r"\bsqrt\((\w)\)", r"√\1"),
    (r"\bsqrt(?:\(| (?=\w))", lambda match: "√" + match[0][4:].strip()),
    (r"\bsum_(?=\w)", "Σ_"),
    (r"\bfloor\((.*?)\)", r"⌊\1⌋"),
    (r"\bceil\((.*?)\)", r"⌈\1⌉"),
    (r"\b(\w)_i,t\b", r"\1ᵢₜ"),
    *_INDICES,
    ("<=", "≤"),
    (">=", "≥"),
    (" - ", " − "),
    (r"(?<=\s)-(?=[^\W\d_]\b)", "−"),
    (r" \* ", " · "),
    (r"(?<=\d) (?=[α-ωΩ]\b)", ""),
    (r"\b1e(-?\d)", r"10^\1"),
    (r"(\d)e(-?\d)", r"\1·10^\2"),
    (r"\^2\b", "²"),
)


class Html(Markup):
    """HTML, which a notebook shows as such."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text("<HTML>")


#: What templates call beside their own macros.
FUNCTIONS: dict[str, Any] = dict(DEFAULT_NAMESPACE)


def offer(*functions: Callable[..., Any], **more: Any) -> None:
    """Let templates call functions by their names, and use more by other names."""
    FUNCTIONS.update({function.__name__: function for function in functions}, **more)


@cache
def _templates(escape: bool) -> Environment:
    environment = Environment(
        loader=PackageLoader("fairbandits.report", "html"),
        autoescape=escape,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals = FUNCTIONS
    environment.filters |= {"minus": minus, "typeset": typeset, "in_symbols": in_symbols}
    return environment


def render(template: str, **given: Any) -> Html:
    """Return a template of `fairbandits/report/html` with these values in it."""
    return Html(_templates(escape=True).get_template(template).render(given))


def render_text(template: str, **given: Any) -> str:
    """Return a template of text, in which nothing is escaped."""
    return _templates(escape=False).get_template(template).render(given)


def minus(text: str) -> str:
    """Return text with a true minus sign before negative numbers; no line breaks a number.

    >>> minus("from -2 to 3, of bf-lem6")
    'from −2 to 3, of bf-lem6'
    """
    return _INSIDE.sub("\u00a0", _MINUS.sub("−", text))


@cache
def in_symbols(text: str, formulas: bool = True) -> str:
    r"""Return prose as one line of text, with formulas in the letters that a browser has.

    A name has no formulas: what is between two dollar signs stays as it is.

    >>> in_symbols(r"at least $\sqrt{\tau T} - 1$")
    'at least √(τ T) − 1'
    >>> in_symbols("lambda_k t - R_k(t) = Q_k(t), in `rise_k`")
    'λₖ t − Rₖ(t) = Qₖ(t), in `rise_k`'
    """
    text = " ".join((plain(text) if formulas else text).split())
    for pattern, symbol in _SYMBOLS:
        text = re.sub(pattern, symbol, text)
    return minus(text)


def raised(text: str) -> Html:
    powers = _POWER.sub(r"<sup>\1\2</sup>", str(Html.escape(text)))
    return Html(_INDEX.sub(r"\1<sub>\2</sub>", powers))


def typeset(text: str) -> Html:
    """Return prose as HTML with typeset formulas and true minus signs."""
    formula = Html(r'<span class="math notranslate nohighlight">\({}\)</span>')
    parts = enumerate(FORMULA.split(" ".join(text.split())))
    html = (formula.format(part) if k % 2 else raised(minus(part)) for k, part in parts)
    return Html().join(html)


def folded(summary: str, html: str, look: str = "fb-wrap") -> Html:
    """Return HTML that unfolds when its summary is clicked; a table in it is one of words."""
    details = Html('<details class="{}"><summary>{}</summary>{}</details>')
    return details.format(look, summary, html)


def link(place: str, html: str) -> Html:
    """Return a link to a page; in Jupyter it leads to its notebook or, without one, to the site."""
    page, further = re.split(r"(?=[?#])", place + "#", maxsplit=1)
    generated = page.partition("/")[0] in GENERATED
    href = f"../results/site/{page}.html" if generated else f"{page}.ipynb"
    href += further[:-1]
    return Html('<a data-page="{}" href="{}">{}</a>').format(place, href, html)


def link_to_claim(claim: str, html: str = "") -> Html:
    """Return a link to a claim's page; its text is the claim's id by default."""
    return link(f"claims/{claim}", html or claim)


def data_table(
    rows: Sequence[Mapping[str, Any]],
    name: str,
    filters: Mapping[str, str] = MappingProxyType({}),
    ids: Iterable[str] = (),
) -> Html:
    """Return a table that the site's script makes sortable and filterable.

    A row maps columns to cells: a text, or a text and the value to sort and filter by (None for no
    number). `filters` maps a column to "select", or to the values of its buttons, as "a|b"; `ids`
    are rows' anchors.
    """
    first = rows[0] if rows else {}
    numeric = [
        key
        for key, cell in first.items()
        if isinstance(cell, tuple) and not isinstance(cell[1], str)
    ]
    given = {"header": first, "filters": filters, "numeric": numeric}
    return render("data_table.html", name=name, lines=zip_longest(ids, rows), **given)


def table(
    groups: Mapping[str, Sequence[Sequence[Any]]], header: Sequence[str] = (), name: str = ""
) -> Html:
    """Return a small table; `groups` maps headings ("" for none) to rows."""
    return render("table.html", groups=groups, header=header, name=name)


def as_figure(drawing: Any, caption: str) -> Html:
    """Return a Matplotlib figure as a picture with its caption."""
    image = io.BytesIO()
    drawing.savefig(image, format="svg", metadata={"Date": None})
    return Html(
        '<figure class="fb-figure"><div class="fb-image"><img alt="{}" '
        'src="data:image/svg+xml;base64,{}"></div><figcaption>{}</figcaption></figure>'
    ).format(caption, base64.b64encode(image.getvalue()).decode(), caption)


offer(link, link_to_claim, number, significant, table)
