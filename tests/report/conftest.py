"""What tests of several pages share."""

import pytest

import small
from fairbandits.report import audit


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return the audit of the small results."""
    return audit.open_audit(small.audited(tmp_path_factory) / "results")
