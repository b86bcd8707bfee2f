"""The files that say what the project needs, and who to cite, agree with each other."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import fairbandits

ROOT = Path(__file__).resolve().parents[2]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


PYPROJECT, LOCK = (tomllib.loads(text_of(name)) for name in ("pyproject.toml", "uv.lock"))
ENVIRONMENT, CITATION = (
    yaml.safe_load(text_of(name)) for name in ("environment.yml", "CITATION.cff")
)

PYTHONS = SpecifierSet(PYPROJECT["project"]["requires-python"])
MINORS = [minor for minor in range(100) if f"3.{minor}" in PYTHONS]
#: What the package needs by itself, and with its extra.
LIGHT = PYPROJECT["project"]["dependencies"]
(EXTRA,) = PYPROJECT["project"]["optional-dependencies"].values()
PYPI_NAMES = {"matplotlib-base": "matplotlib", "seaborn-base": "seaborn"}
INDEX_HOSTS = {"pypi.org", "files.pythonhosted.org"}


def requirements(lines):
    """Return {normalised name: specifier set}, and refuse a name that stands twice."""
    parsed = [Requirement(line) for line in lines]
    table = {canonicalize_name(req.name): req.specifier for req in parsed}
    assert len(table) == len(parsed), f"a name stands twice in {lines}"
    return table


def conda_requirements():
    """Return what environment.yml asks for, under the names of the Python index."""
    *from_conda, from_pip = ENVIRONMENT["dependencies"]
    lines = [line for line in from_conda if line != "pip" and not re.match(r"python\s*[<=>]", line)]
    table = requirements([*lines, *(line for line in from_pip["pip"] if line != "-e .")])
    return {PYPI_NAMES.get(name, name): specifier for name, specifier in table.items()}


def locked_requirements(rows):
    """Return the same table from the rows in which uv.lock repeats the requirements."""
    return requirements(row["name"] + row.get("specifier", "") for row in rows)


def test_environment_yml_asks_for_what_pyproject_asks_for():
    assert conda_requirements() == requirements([*LIGHT, *EXTRA])


def test_classifiers_name_the_pythons_that_are_allowed():
    prefix = "Programming Language :: Python :: "
    lines = PYPROJECT["project"]["classifiers"]
    named = [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]
    assert named == [f"3.{minor}" for minor in MINORS]
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{named[0].replace('.', '')}"


def test_lock_names_only_the_public_index():
    hosts = {urlsplit(url).hostname for url in re.findall(r'https?://[^"\s]+', text_of("uv.lock"))}
    assert hosts == INDEX_HOSTS
    sources = {key for pkg in LOCK["package"] for key in pkg["source"]}
    assert sources == {"registry", "editable"}


def test_lock_is_that_of_pyproject():
    (project,) = (package for package in LOCK["package"] if package["name"] == "fairbandits")
    assert project["version"] == PYPROJECT["project"]["version"]
    assert SpecifierSet(LOCK["requires-python"]) == PYTHONS
    assert LOCK["options"]["exclude-newer"] == PYPROJECT["tool"]["uv"]["exclude-newer"]
    metadata = project["metadata"]
    assert locked_requirements(metadata["requires-dist"]) == requirements([*LIGHT, *EXTRA])
    groups = PYPROJECT["dependency-groups"]
    assert metadata["requires-dev"].keys() == groups.keys()
    for group, lines in groups.items():
        assert locked_requirements(metadata["requires-dev"][group]) == requirements(lines)


def test_lock_has_one_version_of_each_package_inside_the_bounds():
    versions = {pkg["name"]: pkg["version"] for pkg in LOCK["package"]}
    assert len(versions) == len(LOCK["package"])
    groups = PYPROJECT["dependency-groups"].values()
    lines = [*LIGHT, *EXTRA, *(line for group in groups for line in group)]
    for name, specifier in requirements(lines).items():
        assert specifier.contains(versions[name]), name


def test_tools_outside_the_lock_are_pinned():
    (builder,) = PYPROJECT["build-system"]["requires"]
    assert "==" in builder
    assert builder in PYPROJECT["dependency-groups"]["build"]
    pinned = r"^uv==\d+\.\d+\.\d+ \\\n    --hash=sha256:[0-9a-f]{64}"
    assert re.search(pinned, text_of("workflow/uv.txt"), re.MULTILINE)


def test_all_that_is_installed_has_a_hash():
    for package in LOCK["package"]:
        if package["name"] != "fairbandits":
            files = [*package.get("wheels", ()), *filter(None, [package.get("sdist")])]
            assert {file["hash"][:7] for file in files} == {"sha256:"}, package["name"]
    built = PYPROJECT["tool"]["uv"]["no-build-isolation-package"]
    without_wheel = [package["name"] for package in LOCK["package"] if not package.get("wheels")]
    assert {*without_wheel} <= {*built}
    for name in (".github/workflows/tests.yml", "Dockerfile", "apptainer.def"):
        for used in re.findall(r"^(?:FROM |From: |.*uses: )(.+)$", text_of(name), re.MULTILINE):
            assert re.search(r"@(sha256:[0-9a-f]{64}|[0-9a-f]{40} # v\d+\.\d+\.\d+)$", used), used


def test_version_is_the_same_everywhere():
    versions = {PYPROJECT["project"]["version"], str(CITATION["version"])}
    assert versions == {fairbandits.__version__}


def test_citation_is_valid():
    """By the schema of the Citation File Format, with which cffconvert validates too."""
    schema = json.loads((Path(__file__).parent / "cff-1.2.0.schema.json").read_text())
    plain = json.loads(json.dumps(CITATION, default=str))  # dates as text
    check = jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())
    assert [f"{error.json_path}: {error.message}" for error in check.iter_errors(plain)] == []
    wrong = plain | {"date-released": "someday"}
    assert {error.path[0] for error in check.iter_errors(wrong)} == {"date-released"}


DOCKERFILE, APPTAINER = "Dockerfile", "apptainer.def"


def section(name):
    match = re.search(rf"^%{name}\n(.*?)(?=^%|\Z)", text_of(APPTAINER), re.MULTILINE | re.DOTALL)
    return [line.strip() for line in match[1].splitlines() if line.strip()]


def ignored(name):
    """Return the patterns of an ignore file, wherever they apply."""
    lines = (line.strip("/").removeprefix("**/") for line in text_of(name).splitlines())
    return {line for line in lines if line and not line.startswith("#")}


def test_recipes_take_what_is_under_version_control():
    assert ignored(".dockerignore") == ignored(".gitignore")
    assert "COPY --chown=1000:0 . ." in text_of(DOCKERFILE)
    copied = dict(line.split() for line in section("files"))
    assert all(there == f"/fairbandits/{name}" for name, there in copied.items())
    if (ROOT / ".git").exists():
        listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True)
        tops = {name.split("/")[0] for name in listed.splitlines()}
        assert copied.keys() == tops | {".git"}


def test_recipes_set_up_and_run_the_command_as_the_readme_does():
    docker, readme = text_of(DOCKERFILE), text_of("README.md")
    (command,) = PYPROJECT["project"]["scripts"]
    assert "make setup" in readme
    assert f"{command} replicate" in readme
    assert "&& make setup\n" in docker
    assert "make setup" in section("post")
    assert f'ENTRYPOINT ["{command}"]\nCMD ["replicate"]\n' in docker
    assert section("runscript") == ["cd /fairbandits", f'exec {command} "${{@:-replicate}}"']
    path = "PATH=/fairbandits/.venv/bin:$PATH"
    assert f"ENV {path}" in docker
    assert section("environment") == [f"export {path}"]
