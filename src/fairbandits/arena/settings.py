"""The arena runs like a paper; read on every start, this imports neither Numba nor pandas."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from fairbandits.data.provenance import fingerprint, used_by
from fairbandits.settings.config import Config, build_config
from fairbandits.settings.schemas import ROOT

#: Slug of the arena, in the place of a paper's.
SLUG = "arena"
#: The arena's tables, in the folder of its results.
TABLES = ("standings", "pairs")


def arena_config(settings: dict[str, Any], where: str, root: Path = ROOT) -> Config:
    """Return the configuration of the arena's runs at the scale and folders of `settings`."""
    return once(build_config(settings | {"papers": [SLUG]}, where, root))


def once(config: Config) -> Config:
    """Return the arena's configuration without horizons that a small scale makes equal."""
    runs = {(case.runs[0].spec.stream, case.horizon): case for case in reversed(config.experiments)}
    return replace(config, experiments=tuple(reversed(runs.values())))


def arena_code() -> str:
    """Return the fingerprint of the code that turns datasets into the arena's tables."""
    return fingerprint(*used_by("arena/standings.py"))
