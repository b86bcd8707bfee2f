"""The notebooks: committed clean, run by themselves, give equal bytes, and fail in one line."""

import ast
import re
import subprocess
import sys
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest

import commands
import small
from fairbandits.figures.draw import PAPERS
from fairbandits.report.build import SHOWN, execute

pytestmark = pytest.mark.slow

COMMITTED = sorted(small.NOTEBOOKS.glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("source", COMMITTED, ids=lambda path: path.stem)


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a notebook of a parameters cell and other code cells."""

    def write(*sources):
        cells = [nbformat.v4.new_code_cell("results = '../results'", id="parameters")]
        cells[0].metadata["tags"] = ["parameters"]
        cells += [nbformat.v4.new_code_cell(text, id=f"c{k}") for k, text in enumerate(sources)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "page.ipynb")
        return tmp_path / "page.ipynb"

    return write


def refused(source, out, parameters=None):
    """Execute what must fail; return what is said, and see that nothing was written."""
    with pytest.raises(ValueError, match=re.escape(str(source))) as caught:
        execute(source, out, parameters or {})
    assert not out.exists()
    assert not [path for path in out.parent.iterdir() if path.name.startswith(".")]
    return str(caught.value)


def output_of(notebook):
    return "\n".join(
        output.get("data", {}).get(kind, "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        for kind in ("text/html", "text/markdown", "text/plain")
    )


@each_notebook
def test_is_committed_clean(source):
    text = source.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert nbformat.writes(notebook) + "\n" == text, "not as Jupyter writes it"
    assert notebook.metadata.kernelspec.name == "python3"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert [cell.execution_count for cell in code] == [None] * len(code)


@pytest.mark.parametrize("paper", small.PAPERS)
def test_a_paper_is_told_in_one_order(paper):
    """The site folds all but these sections."""
    notebook = nbformat.read(small.NOTEBOOKS / f"{paper}.ipynb", as_version=4)
    told = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    headings = re.findall(r"^## (.+)$", told, re.MULTILINE)
    assert headings[:SHOWN] == [
        *("What holds, and what does not", "What the paper claims", "What we ran"),
        *("What the paper leaves open", "How to check"),
    ]
    assert "**Why it matters.**" in told


@pytest.mark.parametrize("paper", small.PAPERS)
def test_what_is_computed_by_hand_is_what_is_drawn(paper, tmp_path_factory):
    notebook = nbformat.read(small.NOTEBOOKS / f"{paper}.ipynb", as_version=4)
    (cell,) = (cell for cell in notebook.cells if cell.id == "hand-2")
    *before, last = ast.parse(cell.source).body
    results = small.small_results(tmp_path_factory) / "results"
    names = {"paper": SimpleNamespace(results=results)}
    exec(compile(ast.Module(before, []), paper, "exec"), names)
    table = eval(compile(ast.Expression(last.value), paper, "eval"), names)
    assert list(table.columns) == ["by hand", "as drawn"]
    np.testing.assert_allclose(table["by hand"], table["as drawn"], rtol=1e-6)


def test_two_executions_give_the_same_bytes(tmp_path_factory, tmp_path):
    first, *_ = small.executed_pages(tmp_path_factory)
    again = tmp_path / first.name
    small.execute_in(small.small_results(tmp_path_factory), again)
    assert again.read_bytes() == first.read_bytes()


def shown_by(source, out, **parameters):
    """Execute a notebook, and return what each of its cells shows as text."""
    execute(source, out, parameters)
    return output_of(nbformat.read(out, as_version=4)).split()


def test_a_notebook_has_no_style_and_no_names_of_what_ran_before(written, tmp_path, monkeypatch):
    monkeypatch.setitem(mpl.rcParamsOrig, "font.size", 29.0)  # as in a matplotlibrc of the user
    shown = "plt.rcParams['font.size'], 'left' in dir()"
    source = written("import matplotlib.pyplot as plt", shown)
    with plt.rc_context({"font.size": 31.0}):
        assert shown_by(source, tmp_path / "a.ipynb") == ["(10.0,", "False)"]
        assert plt.rcParams["font.size"] == 31.0
    source = written("left = 1", "left")
    assert shown_by(source, tmp_path / "a.ipynb") == ["1"]
    source = written("'left' in dir()", "import sys; print(1, file=sys.stderr); 2")
    assert shown_by(source, tmp_path / "a.ipynb") == ["False", "2"]


def test_what_is_printed_and_drawn_is_shown(written, tmp_path):
    source = written("print('said')\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    command = "from fairbandits.cli.main import main; main()"  # in a process of its own, as ever
    arguments = [sys.executable, "-c", command, "notebook", str(source), str(tmp_path / "a.ipynb")]
    subprocess.run(arguments, check=True)
    *_, cell = nbformat.read(tmp_path / "a.ipynb", as_version=4).cells
    assert cell.outputs[0].text == "said\n"
    assert any("image/png" in output.get("data", {}) for output in cell.outputs)


def test_a_folder_of_any_script_leaves_no_trace(written, tmp_path, monkeypatch):
    inside = tmp_path / "prøve λ"
    inside.mkdir()
    monkeypatch.chdir(inside)
    execute(written("print(results)"), inside / "out.ipynb", {"results": "results"})
    *_, cell = nbformat.read(inside / "out.ipynb", as_version=4).cells
    assert cell.outputs[0].text == "results\n"


@pytest.mark.parametrize("paper", small.PAPERS)
def test_page_of_a_paper_shows_all_it_should(paper, tmp_path_factory):
    page = small.executed_page(tmp_path_factory, paper)
    shown = output_of(nbformat.read(page, as_version=4))
    for name in PAPERS[paper]:
        assert shown.count(f' id="{name}">') == 1
        assert f'data-figure="{paper}/{name}.svg" src="data:image/svg+xml;base64,' in shown
        if int(re.findall(r"\d+", name)[0]) < 8:
            assert f'id="values-{name}"' in shown
    texts = re.sub(r"base64,[\w+/=]*", "", shown)
    assert not re.search(r"\bnan\b|Warning|NaN", texts)


def test_unknown_parameter(written, tmp_path):
    said = refused(written("1"), tmp_path / "o.ipynb", {"result": "results"})
    assert said.endswith("has no parameter 'result'; it has: results")


def test_failing_cell_is_named(written, tmp_path):
    source = written("x = 1", "# half\nx / 0", "print('never')")
    said = refused(source, tmp_path / "o.ipynb")
    assert said == f"{source}: cell [3], '# half', failed: ZeroDivisionError: division by zero"


def test_command_prints_one_line(tmp_path):
    source = tmp_path / "none.ipynb"
    assert commands.refused("notebook", source, tmp_path / "o.ipynb") == f"{source} does not exist"
