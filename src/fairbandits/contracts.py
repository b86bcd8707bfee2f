"""The contracts: `fairbandits.library.contracts` under its public name."""

import sys

from fairbandits.library import contracts
from fairbandits.library.contracts import *  # noqa: F403 (for type checkers)

sys.modules[__name__] = contracts
