"""The file of a policy of one's own that README shows, and that documents and tests go by."""

import re
from pathlib import Path

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
NAME = "my_policies.py"
(SOURCE,) = re.findall(rf"^\*\*`{NAME}`\*\*\n\n```python\n(.*?)^```$", README, re.M | re.S)
#: The class alone, with its imports.
CLASS = SOURCE.partition('\n\nif __name__ == "__main__":')[0].rstrip() + "\n"
