"""Execute the notebooks, and build the report site from them, both reproducible to the byte."""

import base64
import contextlib
import io
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from textwrap import shorten
from typing import Any

import nbformat
from nbformat import NotebookNode

from fairbandits.data.texts import write_text
from fairbandits.figures import PAPERS
from fairbandits.report.audit import open_audit
from fairbandits.report.claims import BODY, TITLE, Page
from fairbandits.report.documents import linking, write_documents
from fairbandits.report.listing import write_pages
from fairbandits.report.markup import GENERATED
from fairbandits.settings.schemas import meant

#: What links can lead to: the pages of each folder.
Known = Mapping[str, Collection[str]]

HERE = Path(__file__).resolve().parent
#: The site's folder for the sources of its pages.
SOURCES = "made_by"
#: A paper's page shows so many sections and those with figures, and folds the others.
SHOWN = 5

#: A figure's image and links in a page; `build` puts the site's own places in.
_FIGURE = re.compile(r'data-figure="([^"]+)" (src|href)="([^"]*)"')
_PAGE = re.compile(r'data-page="(claims/)?([\w-]+)([?#][^"]*)?" href="[^"]*"')
#: A large picture that stands alone: a file of its own, since a page has dozens of them.
_PICTURE = re.compile(r'<svg xmlns=[^>]* aria-label="([^"]*)"[^>]*>.{1500,}?</svg>', re.DOTALL)
#: Papermill's tag of the cell with the parameters; it is none of the notebook's own.
INJECTED = "injected-parameters"
#: The last bytes of a complete image.
_LAST = {".svg": b"</svg>", ".png": b"IEND\xaeB`\x82"}
#: The search shows a page's text; sections stay, since results lead to them.
_NO_SECTION = re.compile(r"<(script|style)\b.*?</\1>|<(?!/?section\b)[^>]*>|\s+", re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def execute(source: Path, out: Path, parameters: Mapping[str, str]) -> None:
    """Execute a notebook in its own folder, in this process, and write it with its outputs.

    Its parameters are folders; what it shows names them as given, whatever the project's place.
    """
    from papermill.parameterize import parameterize_notebook

    notebook = _read(source)
    notebook.metadata.setdefault("papermill", {})
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])
    cells = [cell.source for cell in notebook.cells if "parameters" in cell.metadata.tags]
    declared = re.findall(r"^(\w+) *=", "\n".join(cells), flags=re.MULTILINE)
    for name in parameters.keys() - set(declared):
        has = ", ".join(declared) or "none"
        raise ValueError(f"{source} has no parameter {name!r}; it has: {has}")
    folders = {name: str(Path(value).resolve()) for name, value in parameters.items()}
    notebook = parameterize_notebook(notebook, folders, kernel_name="python3", language="python")
    for cell in notebook.cells:
        if INJECTED in cell.metadata.tags:
            cell.id = INJECTED  # papermill draws one
            cell.metadata["tags"].append("hide-input")
    _run(notebook, source)
    notebook.metadata["language_info"] = {"name": "python"}
    text = nbformat.writes(notebook)
    # a folder comes before the one it is in
    for name, folder in sorted(folders.items(), key=lambda item: len(item[1]), reverse=True):
        text = text.replace(json.dumps(folder, ensure_ascii=False)[1:-1], parameters[name])
    write_text(out, f"{text}\n")


def _read(source: Path) -> NotebookNode:
    if not source.exists():
        raise ValueError(f"{source} does not exist")
    try:
        notebook = nbformat.read(source, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # a library's own, of any kind
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{source} is not a notebook that can be read: {reason}") from error
    return notebook


def _run(notebook: NotebookNode, source: Path) -> None:
    import matplotlib as mpl
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    quiet = Config({"HistoryManager": {"enabled": False}})
    with (
        tempfile.TemporaryDirectory() as ipython,
        contextlib.chdir(source.resolve().parent),
        mpl.rc_context(),
    ):
        mpl.rcdefaults()  # not as the user's own file says
        InteractiveShell.clear_instance()
        shell = InteractiveShell.instance(config=quiet, ipython_dir=ipython, colors="nocolor")
        try:
            if any("pyplot" in cell.source for cell in code):
                shell.enable_gui = lambda gui: None  # pictures are kept, and no window waits
                shell.enable_matplotlib("inline")
            numbers = itertools.count(1)
            for cell in code:
                count = 0 if cell.id == INJECTED else next(numbers)
                with capture_output() as captured:
                    shell.display_trap.hook = sys.displayhook  # of what captures, within the cell
                    done = shell.run_cell(cell.source)
                if error := done.error_before_exec or done.error_in_exec:
                    raise ValueError(
                        f"{source}: cell [{count}], {(cell.source.splitlines() or [''])[0]!r}, "
                        f"failed: {type(error).__name__}: {error}"
                    )
                cell.execution_count, cell.outputs = count, list(_outputs(captured))
        finally:
            shell.restore_sys_module_state()
            InteractiveShell.clear_instance()


def _outputs(captured: Any) -> Iterator[NotebookNode]:
    for name in ("stdout", "stderr"):
        if text := getattr(captured, name):
            yield nbformat.v4.new_output("stream", name=name, text=text)
    for output in captured.outputs:
        data = dict(output.data)
        for kind, value in data.items():
            data[kind] = base64.b64encode(value).decode() if isinstance(value, bytes) else value
        yield nbformat.v4.new_output("display_data", data, metadata=output.metadata or {})


def build(
    notebooks: list[Path],
    figures: Path,
    out: Path,
    results: Path | None = None,
    *,
    root: Path,
) -> None:
    """Build the site: a page per notebook, with verdicts one per claim, and documents of `root`.

    `notebooks` are executed ones in the order of the menu, with ``index.ipynb``; `figures` holds
    ``PAPER/FIGURE.svg`` and ``.png``; `out` is replaced whole, or kept when something fails.
    """
    names = [notebook.stem for notebook in notebooks]
    if "index" not in names or len(set(names)) < len(names):
        raise ValueError(f"pages must be index and others, each once; got {', '.join(names)}")
    out = out.resolve()  # Sphinx takes relative paths from its own folder
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        source, extra, site = (Path(scratch) / part for part in ("source", "extra", "site"))
        source.mkdir()
        pages: dict[str, Page] = {}
        if results and (audit := open_audit(results)).papers:
            data = Path(os.path.relpath(results.resolve(), out / "claims"))
            pages = write_pages(audit, data.as_posix(), source)
        known = {"": [*names, *(GENERATED if pages else ())], "claims/": pages}
        linked = linking(source, names, root)
        texts = write_documents(source, root, linked)
        (extra / SOURCES).mkdir(parents=True)
        for notebook in notebooks:
            page = _page(notebook, known, figures, extra)
            for cell in (cell for cell in page.cells if cell.cell_type == "markdown"):
                file = root / "notebooks" / notebook.name  # from where its links lead
                cell.source = linked(cell.source, file, notebook.stem)
            if notebook.stem == "index":
                page.cells.append(_menu([*known[""], *texts]))
            nbformat.write(page, source / notebook.name)
            bare = _read(notebook)
            for cell in (cell for cell in bare.cells if cell.cell_type == "code"):
                cell.outputs, cell.execution_count = [], None
            nbformat.write(bare, extra / SOURCES / notebook.name)
        for name in ("claims.py", "listing.py"):
            shutil.copyfile(HERE / name, extra / SOURCES / name)
        for file in source.glob("*.md"):
            text = file.read_text(encoding="utf-8")
            file.write_text(_linked(text, known, file.name), encoding="utf-8")
        _sphinx(Path(scratch), [*known[""], *texts], pages)
        if pages:  # Sphinx made one page for all claims
            template = site / "claims" / "claim.html"
            text = template.read_text(encoding="utf-8")
            template.unlink()
            for name, page in pages.items():
                body = _linked(page.body, known, f"the page of {name}", "../")
                title = escape(shorten(page.statement, 70, placeholder="…"))
                whole = text.replace(f"<title>{TITLE}", f"<title>{name}: {title}")
                whole = whole.replace(TITLE, name).replace(BODY, body)
                template.with_name(f"{name}.html").write_text(whole, encoding="utf-8")
        (site / ".buildinfo").unlink(missing_ok=True)  # a hash of where things lie
        (site / "_sources").rmdir()  # empty
        before = Path(scratch) / "before"
        if out.exists():
            out.rename(before)
        try:
            site.rename(out)
        except OSError:
            if before.exists():
                before.rename(out)
            raise


def _linked(text: str, known: Known, where: str, up: str = "") -> str:
    """Return the HTML of file `where` with links of the site, whose folder is `up`."""

    def link(match: re.Match[str]) -> str:
        folder, name, anchor = match.groups(default="")
        if name not in known[folder]:
            hint = meant(name, sorted(known[folder]))
            raise ValueError(f"{where} links to page {folder + name!r}{hint}")
        return f'href="{up}{folder}{name}.html{anchor}"'

    return _PAGE.sub(link, text)


def _page(notebook: Path, known: Known, figures: Path, extra: Path) -> NotebookNode:
    """Return a notebook with the site's own places; its images and data go into folder `extra`."""
    page = _read(notebook)
    code = [cell for cell in page.cells if cell.cell_type == "code" and cell.source]
    if any(cell.execution_count is None for cell in code):
        raise ValueError(f"{notebook} was not executed; `fairbandits notebook` does it")

    def figure(match: re.Match[str]) -> str:
        name, attribute, value = match.groups()
        file = figures / name
        if not file.is_file():
            raise ValueError(f"{notebook} shows {file}, which does not exist; draw it first")
        if not file.read_bytes().rstrip().endswith(_LAST[file.suffix]):
            raise ValueError(
                f"{file} is not whole; delete it, and `fairbandits replicate` draws it anew"
            )
        if attribute == "src" and base64.b64decode(value.partition(",")[2]) != file.read_bytes():
            raise ValueError(f"{notebook} shows an older {file}; execute the notebook again")
        (extra / "figures" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, extra / "figures" / name)
        return f'{attribute}="figures/{name}"'

    numbers = itertools.count(1)

    def picture(match: re.Match[str]) -> str:
        path = f"pictures/{notebook.stem}-{next(numbers)}.svg"
        (extra / "pictures").mkdir(exist_ok=True)
        (extra / path).write_text(match[0], encoding="utf-8")
        shown = f'<img src="{path}" alt="{match[1]}" style="width:100%">'
        return f'<a class="fb-image" href="{path}">{shown}</a>'

    for cell in code:
        if "hide-input" in cell.metadata.get("tags", []):  # it makes the page, and teaches nothing
            cell.metadata["tags"] = ["remove-input"]
        for data in (output.get("data", {}) for output in cell.outputs):
            if "text/html" in data:
                markup = _PICTURE.sub(picture, _FIGURE.sub(figure, data["text/html"]))
                data["text/html"] = _linked(markup, known, str(notebook))
    return page


def _menu(names: Sequence[str]) -> NotebookNode:
    others = "\n".join(name for name in names if name != "index")
    return nbformat.v4.new_markdown_cell(f"```{{toctree}}\n:hidden:\n\n{others}\n```", id="menu")


def _sphinx(scratch: Path, names: Sequence[str], claims: Mapping[str, Page]) -> None:
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    source, site = scratch / "source", scratch / "site"
    log = io.StringIO()
    texts = {f"claims/{name}": f"<p>{escape(page.statement)}</p>" for name, page in claims.items()}

    def add(app: Any, page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
        titles = {name: app.env.titles[name].astext() for name in names}
        # empty for the search page, and for documents
        made_by = f"notebooks/{page}.ipynb" if page in titles and "/" not in page else ""
        if page.partition("/")[0] in GENERATED:
            made_by = f"src/fairbandits/report/{'claims' if '/' in page else 'listing'}.py"
        documents = [name for name in names if "/" in name]
        context |= {"page_titles": titles, "made_by": made_by, "documents": documents}
        if page in titles:
            texts[page] = _NO_SECTION.sub(" ", context["body"])

    settings = {"html_extra_path": [str(scratch / "extra")]}
    folders = source, HERE, site, scratch / "doctrees"
    try:
        with patch_docutils(HERE), docutils_namespace():
            app = Sphinx(*folders, "html", settings, None, log, freshenv=True)
            app.connect("html-collect-pages", lambda app: _let_search_find(app, claims))
            app.connect("html-page-context", add, priority=400)  # before the theme
            app.connect("doctree-resolved", _fold)
            app.build()
    except SphinxError as error:
        log.write(f"{error.category}: {error}")
    if warnings := _COLOUR.sub("", log.getvalue()).strip():
        raise ValueError(f"Sphinx did not build the site: {warnings}".replace(f"{source}/", ""))
    with (site / "searchindex.js").open("a", encoding="utf-8") as index:
        index.write(f";Search.texts={json.dumps(texts, sort_keys=True)}")


def _fold(_app: Any, page: Any, name: str) -> None:
    """Fold the later sections of a paper's page without figures, below their headings."""
    from docutils import nodes

    if name not in PAPERS:
        return
    sections = [node for node in page[0] if isinstance(node, nodes.section)]
    for section in sections[SHOWN:]:
        if any('class="fb-figure' in raw.astext() for raw in section.findall(nodes.raw)):
            continue
        section.insert(1, nodes.raw("", "</summary>", format="html"))
        section.insert(0, nodes.raw("", "<details><summary>", format="html"))
        section.append(nodes.raw("", "</details>", format="html"))


def _let_search_find(app: Any, pages: Mapping[str, Page]) -> list[Any]:
    """Add the claims to the index of the site's search; return no pages for Sphinx to make."""
    from docutils import nodes
    from docutils.utils import new_document

    app.env.all_docs.pop("claims/claim", None)  # the index drops what is not among these
    for name, page in pages.items():
        document = new_document(name)
        title, paragraph = nodes.title(text=name), nodes.paragraph(text=page.statement)
        document += nodes.section("", title, paragraph)
        docname = f"claims/{name}"
        app.env.all_docs[docname], app.env.titles[docname] = 0, title
        app.builder.indexer.feed(docname, f"{docname}.md", name, document)
    return []
