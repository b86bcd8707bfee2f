"""The speed benchmark: its cases, the ways to play them, the measurements, and their tables."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parent
sys.path.append(str(ROOT / "tests"))  # the naive twins live there
