"""The documents of docs/ as pages of the site."""

import re
import shutil
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

FOLDER = "docs"
#: A link or an image, with what it shows, and its target without an anchor.
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")
_IMAGES = (".svg", ".png")


def documents(root: Path) -> dict[str, Path]:
    """Return the documents by the names of their pages, index first; a package has none."""
    files = sorted((root / FOLDER).rglob("*.md"), key=lambda file: file.stem != "index")
    return {file.relative_to(root).with_suffix("").as_posix(): file for file in files}


def linking(source: Path, pages: Collection[str], root: Path) -> Callable[[str, Path, str], str]:
    """Return a function that gives the text of a project's file the links that a page needs.

    Links lead to documents and to `pages`, those to a figure to its place on the paper's page, and
    images are copied into `source`; a file that is no page is named without a link.
    """
    files = documents(root)

    def linked(text: str, file: Path, page: str) -> str:
        return _LINK.sub(partial(link, file, page), text)

    def link(file: Path, page: str, match: re.Match[str]) -> str:
        image, shown, target, anchor = match.groups(default="")
        if "//" in target:
            return match[0]
        goal = (file.parent / target).resolve()
        if not goal.is_relative_to(root.resolve()):
            raise ValueError(f"{file} links to {target!r}, which is not in the project")
        if files and goal.suffix in (".md", ".ipynb") and not goal.exists():
            raise ValueError(f"{file} links to {target!r}, which does not exist")
        path = goal.relative_to(root.resolve())
        if image and not goal.is_file():  # a folder without the committed figures
            return shown
        if image and goal.suffix in _IMAGES:
            copy = source / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(goal, copy)
            return f"![{shown}](/{path.as_posix()})"
        if path.with_suffix("").as_posix() in files and goal.suffix == ".md":
            return f"[{shown}](/{path.as_posix()}{anchor})"
        if goal.suffix in _IMAGES and goal.parent.name in pages:  # a paper's figure
            up = "../" * page.count("/")
            return f'<a href="{up}{goal.parent.name}.html#{goal.stem}">{shown}</a>'
        if goal.suffix == ".ipynb" and goal.stem in pages:
            return f"[{shown}](/{goal.stem}.ipynb{anchor})"
        return shown

    return linked


def write_documents(source: Path, root: Path, linked: Callable[[str, Path, str], str]) -> list[str]:
    """Write the documents with their links into `source`; return the names of their pages."""
    files = documents(root)
    for name, file in files.items():
        copy = source / f"{name}.md"
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = linked(file.read_text(encoding="utf-8"), file, name)
        copy.write_text(text, encoding="utf-8")
    return [*files]
