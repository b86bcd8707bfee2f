"""The files that pages of docs/ show whole, and the policy of one's own that tests go by."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
#: A file that is shown whole: its place in bold, and its content in a block.
SHOWN = re.compile(r"^\*\*`(\S+)`\*\*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(page: str) -> dict[str, str]:
    """Return the files that a page of docs/ shows, by their names."""
    return dict(SHOWN.findall((DOCS / page).read_text(encoding="utf-8")))


NAME = "my_policies.py"
SOURCE = shown("adding-a-policy.md")[NAME]
#: The class alone, with its imports.
CLASS = SOURCE.partition('\n\nif __name__ == "__main__":')[0].rstrip() + "\n"
