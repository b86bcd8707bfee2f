"""The rooms of the package: imports run one way between them, and nowhere in a circle."""

import ast
import re
import sys
from graphlib import CycleError, TopologicalSorter

from commands import process
from fairbandits.data.provenance import PACKAGE
from fairbandits.settings.schemas import ROOT, read_yaml

#: Rooms from the ground up. A room imports only from those before it; rooms of one line know
#: nothing of each other. The package's face, which is what `import fairbandits` runs, is "face".
FLOORS = (
    ("checks", "lookup", "numerals", "rationals"),
    ("data", "theory"),
    ("engine", "measures"),
    ("policies",),
    ("observers",),
    ("library", "settings"),
    ("face", "replication"),
    ("arena", "audit", "figures"),
    ("claims", "report"),
    ("cli",),
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
#: Where texts are paths into a room above. Simulating code imports the lists of `data.provenance`,
#: and its fingerprint has that import: they move when all data are drawn anew.
PATHS_UP = [
    ("fairbandits.data.provenance", "replication/simulate.py"),
    ("fairbandits.data.provenance", "replication/banditq_uai2024.py"),
]
#: Public names of modules in rooms, one thin module each; they are part of the face.
PUBLIC = ("contracts", "instances", "metrics", "store")
#: What the library and all below it do without: the workflow, the notebooks, the report.
NOT_IN_LIBRARY = ("snakemake", "jupyter", "nbformat", "nbclient", "papermill", "sphinx", "myst_nb")


def sources(package):
    """Return the package's modules by name, the face as ``fairbandits``."""
    modules = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imported(path):
    """Yield what a file imports, as ``module.name``, and the line; those in functions too."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def arrows(package):
    modules = sources(package)
    graph = {name: {} for name in modules}
    for name, path in modules.items():
        for target, line in imported(path):
            while target and target not in modules:
                target = target.rpartition(".")[0]
            if target and target != name:
                graph[name].setdefault(target, line)
    return graph


def room(module):
    name = [*module.split("."), "face"][1]
    return "face" if name in PUBLIC else name


def arrows_up(graph):
    """Return the imports that do not run down from room to room."""
    return [
        f"{module}, line {line}: {other}"
        for module, others in graph.items()
        for other, line in others.items()
        if room(module) != room(other) and FLOOR[room(module)] <= FLOOR[room(other)]
    ]


def circle(graph):
    """Return a circle of modules that import each other, empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return set(error.args[1])
    return set()


def texts_in_code(path):
    """Yield the constants of a file as texts, without its docstrings."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    docstrings = [node.value for node in nodes if isinstance(node, ast.Expr)]
    for node in nodes:
        if isinstance(node, ast.Constant) and node not in docstrings:
            yield str(node.value)


def paths_up(package):
    """Return the texts in code that are paths into a room above: arrows up that no import shows."""
    paths = []
    for name, path in sources(package).items():
        for text in texts_in_code(path):
            first, slash, _ = text.partition("/")
            if slash and FLOOR.get(first, 0) > FLOOR[room(name)] and (package / text).exists():
                paths.append((name, text))
    return paths


def made(folder, files):
    for name, text in files.items():
        path = folder / "fairbandits" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "fairbandits"


FOUND = arrows(PACKAGE)


def test_every_module_has_a_room():
    assert {room(name) for name in FOUND} == FLOOR.keys()
    assert len(list(PACKAGE.glob("*.py"))) <= 6 + len(PUBLIC)


def test_imports_run_down(tmp_path):
    files = {
        "engine/loops.py": "def f():\n    from fairbandits.library import run\n",
        "library/run.py": "from fairbandits.engine.loops import f\n",
        "audit/judge.py": "import fairbandits.figures.draw\n",
        "figures/draw.py": "import sys\n",
    }
    assert arrows_up(arrows(made(tmp_path, files))) == [
        "fairbandits.audit.judge, line 1: fairbandits.figures.draw",
        "fairbandits.engine.loops, line 2: fairbandits.library.run",
    ]
    assert arrows_up(FOUND) == []


def test_no_text_is_a_path_into_a_room_above(tmp_path):
    files = {
        "settings/a.py": '"""audit/b.py"""\nA, B = "audit/b.py", f"audit/{1}"\n',
        "audit/b.py": 'A = "settings/a.py", "audit/b.py", "report/b.py", "report"\n',
    }
    wanted = [("fairbandits.settings.a", f"audit/{end}") for end in ("b.py", "")]
    assert paths_up(made(tmp_path, files)) == wanted
    assert paths_up(PACKAGE) == PATHS_UP


def test_nothing_imports_in_a_circle(tmp_path):
    files = {
        "audit/a.py": "from fairbandits.audit import b\n",
        "audit/b.py": "from fairbandits.audit.c import x\n",
        "audit/c.py": "def f():\n    import fairbandits.audit.a\n",
        "audit/d.py": "from fairbandits.audit import a, b\n",
    }
    closed = {f"fairbandits.audit.{name}" for name in "abc"}
    assert circle(arrows(made(tmp_path, files))) == closed
    assert circle(FOUND) == set()


def imports(names):
    modules = sources(PACKAGE)
    return {
        f"{name}, line {line}: {target}": target
        for name in names
        for target, line in imported(modules[name])
    }


def test_the_library_needs_no_workflow_and_no_report():
    below = [name for name in FOUND if FLOOR[room(name)] <= FLOOR["library"]]
    assert len(below) > 50
    assert not [said for said, name in imports(below).items() if name.startswith(NOT_IN_LIBRARY)]


def test_a_measure_is_imported_from_its_file():
    """A fingerprint follows imports: it cannot see what a package looks up by name."""
    targets = {name for name in imports(FOUND).values() if name.startswith("fairbandits.measures.")}
    assert {name for name in targets if name.count(".") == 2} <= {*FOUND}


def test_the_judge_needs_no_compiler_and_no_policy():
    script = """
import sys
import fairbandits.audit.run, fairbandits.audit.staleness
from fairbandits.audit.measures import defaults
defaults("banditq"), defaults("bf_ucb"), defaults("lfg")
print(*(name for name in ("numba", "fairbandits.engine", "fairbandits.policies.banditq")
        if name in sys.modules))
"""
    for _ in range(2):  # the first one finds the defaults of policies, the second remembers them
        done = process(sys.executable, "-c", script)
    assert (done.stdout.split(), done.stderr) == ([], "")


def test_no_module_of_pythons_is_hidden():
    names = {name.rpartition(".")[2] for name in FOUND if name.count(".") == 1}
    assert names.isdisjoint(sys.stdlib_module_names)


def papers_named(package, papers):
    """Return the imports, and texts in code, that name a paper outside its own modules."""
    named = []
    for name, path in sources(package).items():
        if any(part.startswith(papers) for part in name.split(".")):
            continue
        texts = [*texts_in_code(path), *(target for target, _ in imported(path))]
        named += [(name, word) for word in texts if re.search("|".join(papers), word)]
    return named


def test_no_shared_code_names_a_paper(tmp_path):
    text = '"""Of toy."""\nimport fairbandits.figures.toy\n\nX = "a toy", f"{1}", "to"\n'
    package = made(tmp_path, {f"report/{name}.py": text for name in ("pages", "toy_pages")})
    wanted = [("fairbandits.report.pages", text) for text in ("a toy", "fairbandits.figures.toy")]
    assert papers_named(package, ("toy",)) == wanted
    papers = tuple(read_yaml(ROOT / "config" / "config.yaml")["papers"])
    # some policies are named as their papers are, and the help of commands has examples
    free = {"policies", "observers", "cli", "fairbandits.library.instances"}
    named = [pair for pair in papers_named(PACKAGE, papers) if not {room(pair[0]), pair[0]} & free]
    replay = "replication/banditq_uai2024.py"
    assert named == [
        ("fairbandits.audit.code", replay),
        ("fairbandits.data.provenance", replay),
        ("fairbandits.settings.variants", "oracle_lfg.banditq.V_exponent=0.6"),  # a policy's name
    ]
