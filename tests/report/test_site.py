"""The site: whole or not at all, the same bytes each time, and nothing loaded from elsewhere."""

import base64
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import small
from fairbandits.report.build import build
from fairbandits.settings.schemas import ROOT

pytestmark = small.OF_SPHINX
METADATA = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
METADATA |= {"language_info": {"name": "python"}}
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><circle r="9"/></svg>'
PNG = b"\x89PNG\r\n\x1a\n...IEND\xaeB`\x82"


def executed(title, *shown, text="Some text with $x^2$ in it."):
    """Return a notebook with a heading and code cells that show such HTML."""
    cells = [new_markdown_cell(f"# {title}\n\n{text}", id="top")]
    for k, html_ in enumerate(shown):
        output = new_output("execute_result", {"text/html": html_}, execution_count=k + 1)
        cell = new_code_cell("1", id=f"c{k}", execution_count=k + 1, outputs=[output])
        cells.append(cell)
    return new_notebook(cells=cells, metadata=METADATA)


def image(name, content=SVG):
    data = base64.b64encode(content).decode()
    return f'<img data-figure="{name}" src="data:image/svg+xml;base64,{data}" alt="a">'


LINK = '<a data-page="banditq#fig1" href="banditq.ipynb#fig1">one</a>'
FILE = '<a data-figure="banditq/fig1.png" href="../figures/banditq/fig1.png">PNG</a>'


OTHER, NOT_DRAWN = image("banditq/fig1.svg", b"<svg/>"), "fig2.svg, which does not exist; draw it"


class Made:
    """Executed notebooks and figures in a folder, to build a site of."""

    def __init__(self, folder):
        self.folder, self.root = folder, folder
        self.figures = folder / "figures"
        self.out = folder / "results" / "site"
        (self.figures / "banditq").mkdir(parents=True)
        for kind, content in (("svg", SVG), ("png", PNG)):
            (self.figures / "banditq" / f"fig1.{kind}").write_bytes(content)
        page = executed("A page", image("banditq/fig1.svg") + FILE)
        self.pages = {"index": executed("Start", LINK), "banditq": page}

    def build(self):
        paths = []
        for name, notebook in self.pages.items():
            paths.append(self.folder / f"{name}.ipynb")
            nbformat.write(notebook, paths[-1])
        build(paths, self.figures, self.out, root=self.root)
        return self.out

    def refused(self):
        """Build what cannot be built; return what is said, see that the old site is as it was."""
        before = tree(self.out.parent)
        with pytest.raises(ValueError, match=r"\w") as caught:
            self.build()
        assert tree(self.out.parent) == before
        return str(caught.value)


def tree(folder):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("made")).build()


#: What a tag loads.
LOADED = re.compile(
    r'<(?:script|img|iframe|source|object|embed|link)\b[^>]*?\s(?:src|data|href)="([^"]+)"'
)


def test_loads_nothing_from_elsewhere(site):
    for page in site.glob("*.html"):
        addresses = LOADED.findall(page.read_text(encoding="utf-8"))
        assert addresses
        for address in addresses:
            assert not address.startswith(("http:", "https:", "//")), (page.name, address)
            if not address.startswith(("data:", "#")):
                assert (site / address.partition("?")[0].partition("#")[0]).is_file(), address


def test_figures_are_in_it_and_shown_from_there(site):
    assert (site / "figures" / "banditq" / "fig1.svg").read_bytes() == SVG
    assert (site / "figures" / "banditq" / "fig1.png").read_bytes() == PNG
    page = (site / "banditq.html").read_text(encoding="utf-8")
    assert '<a href="banditq.html#fig1">one</a>' in (site / "index.html").read_text("utf-8")
    assert '<img src="figures/banditq/fig1.svg"' in page
    assert '<a href="figures/banditq/fig1.png">PNG</a>' in page
    assert "base64" not in page


def test_documents_are_pages_whose_links_lead_somewhere(made):
    made.root = ROOT
    made.pages["banditq"] = executed("A page", text="See [the guide](../docs/library.md#results).")
    site = made.build()
    assert 'href="docs/library.html#results"' in (site / "banditq.html").read_text("utf-8")
    pages = {file: file.read_text(encoding="utf-8") for file in (site / "docs").rglob("*.html")}
    assert len(pages) == len([*(ROOT / "docs").rglob("*.md")])
    for page, text in pages.items():
        for address in re.findall(r'(?:href|src)="([^":]+)"', text):
            target, _, anchor = address.partition("#")
            goal = page.parent / target.partition("?")[0] if target else page
            assert goal.is_file(), f"{page}: {address}"
            if anchor and goal.suffix == ".html":
                assert f'id="{anchor}"' in goal.read_text(encoding="utf-8"), f"{page}: {address}"
        assert "](" not in re.sub(r"<(script|pre|code)\b.*?</\1>", "", text, flags=re.DOTALL), page
    assert '<a class="reference' in pages[site / "docs" / "index.html"]


@pytest.mark.parametrize(
    ("target", "says"),
    [("../../secret.md", "is not in the project"), ("nowhere.md", "does not exist")],
)
def test_a_document_that_leads_nowhere_is_refused(made, tmp_path, target, says):
    made.root = tmp_path / "project"
    (made.root / "docs").mkdir(parents=True)
    (made.root / "docs" / "guide.md").write_text(f"# Guide\n\n[secret]({target})\n")
    assert f"guide.md links to {target!r}, which {says}" in made.refused()


def test_same_bytes_wherever_it_is_built(site, made):
    assert tree(made.build()) == tree(site)


def test_replaces_an_older_site_whole(made):
    made.out.mkdir(parents=True)
    (made.out / "left-over.html").write_text("old")
    made.build()
    assert not (made.out / "left-over.html").exists()
    assert (made.out / "index.html").is_file()
    assert [path.name for path in made.out.parent.iterdir()] == ["site"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("```{no-such-directive}\n```", "no-such-directive"),
        ("$$x$$ (twice)\n\n[](#nowhere)", "nowhere"),
    ],
)
def test_a_warning_of_sphinx_stops_it(made, text, says):
    made.out.mkdir(parents=True)
    (made.out / "index.html").write_text("the old site")
    made.pages["banditq"] = executed("A page", text=text)
    said = made.refused()
    assert said.startswith("Sphinx did not build the site: banditq.ipynb:")
    assert says in said
    assert "\x1b" not in said
    assert str(made.folder) not in said


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda pages: pages["banditq"].cells[1].update(execution_count=None),
            "banditq.ipynb was not executed; `fairbandits notebook` does it",
        ),
        (lambda pages: pages.update(banditq=executed("A", OTHER)), "fig1.svg; execute the"),
        (lambda pages: pages.update(banditq=executed("A", image("banditq/fig2.svg"))), NOT_DRAWN),
        (lambda pages: pages.pop("banditq"), "links to page 'banditq'; known: index"),
        (lambda pages: pages.pop("index"), "must be index and others, each once; got banditq"),
    ],
    ids=["not executed", "another figure", "not drawn", "no such page", "no index"],
)
def test_pages_that_do_not_fit_are_refused(made, change, says):
    change(made.pages)
    assert says in made.refused()


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_an_image_that_was_cut_off_is_refused(tmp_path, kind):
    made = Made(tmp_path)
    file = made.figures / "banditq" / f"fig1.{kind}"
    file.write_bytes(file.read_bytes()[:-4])
    shown = image("banditq/fig1.svg", (made.figures / "banditq" / "fig1.svg").read_bytes())
    made.pages["banditq"] = executed("A page", shown + FILE)
    with pytest.raises(ValueError, match=f"fig1.{kind} is not whole; delete it, and"):
        made.build()
    assert not made.out.exists()
