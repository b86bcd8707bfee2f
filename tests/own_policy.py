"""The file of a policy of one's own that docs/adding-a-policy.md shows, and that tests go by."""

import re
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "adding-a-policy.md"
TEXT = GUIDE.read_text(encoding="utf-8")
NAME = "my_policies.py"
(SOURCE,) = re.findall(rf"^\*\*`{NAME}`\*\*\n\n```python\n(.*?)^```$", TEXT, re.M | re.S)
#: The class alone, with its imports.
CLASS = SOURCE.partition('\n\nif __name__ == "__main__":')[0].rstrip() + "\n"
