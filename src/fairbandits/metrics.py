"""The measures: `fairbandits.measures` under its public name."""

import sys

from fairbandits import measures

sys.modules[__name__] = measures
