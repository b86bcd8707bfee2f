"""The real configuration and its ledgers, which take seconds: read once in a process.

Nobody changes them.
"""

from functools import cache

from fairbandits.audit.ledger import Ledger, load_ledgers
from fairbandits.settings.config import Config, load_config
from fairbandits.settings.schemas import ROOT

FILES = (ROOT / "config" / "config.yaml",)


@cache
def config() -> Config:
    """Return the configuration of the published scale."""
    return load_config(FILES)


@cache
def ledgers() -> dict[str, Ledger]:
    """Return the ledgers of all papers."""
    return load_ledgers(config())
