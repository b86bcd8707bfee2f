"""The papers' instances: `fairbandits.library.instances` under its public name."""

import sys

from fairbandits.library import instances
from fairbandits.library.instances import *  # noqa: F403 (for type checkers)

sys.modules[__name__] = instances
