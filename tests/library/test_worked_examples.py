"""Examples from outside: a figure of a textbook, and the guide from raw counts to a verdict."""

import re

import numpy as np
import pytest

import fairbandits as fb
import own_policy
from commands import said
from plain import Plain

#: Explore-then-commit with two Gaussian arms in 1 000 rounds: Lattimore and Szepesvari, "Bandit
#: Algorithms" (2020), section 6.1 and figure 6.1. For gaps 0.2, 0.4, ..., 1 the expected regret of
#: 25 pulls of each arm, m gap + (n - 2 m) gap norm.cdf(-gap sqrt(m / 2)).
GAPS = (0.2, 0.4, 0.6, 0.8, 1.0)
TEXTBOOK = (50.5525, 39.8868, 24.6600, 21.7775, 25.1933)
ROUNDS, EACH = 1_000, 25


class ExploreThenCommit(Plain):
    """Pull each arm some times in turn, then the one that was better."""

    def choose(self, t, coin):
        if t == 2 * EACH + 1:
            self.better = self.sums.argmax()
        return (t - 1) % 2 if t <= 2 * EACH else self.better


@pytest.mark.parametrize(("gap", "wanted"), list(zip(GAPS, TEXTBOOK, strict=True)))
def test_explore_then_commit_has_the_textbooks_regret(gap, wanted):
    arms = fb.Instance((0.0, -gap), "gaussian")
    # what is left after exploring is decided: 60 rounds say how each replicate ends
    regret = fb.run(ExploreThenCommit(), arms, 60, 400, checkpoints=[50, 60]).regret()
    ends = regret[:, 0] + (regret[:, 1] - regret[:, 0]) / 10 * (ROUNDS - 2 * EACH)
    spread = ends.std(ddof=1) / np.sqrt(len(ends))
    assert abs(ends.mean() - wanted) < 4 * spread + 0.5


@pytest.mark.slow
def test_from_counts_to_a_verdict(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traffic.py").write_text(own_policy.shown("your-own-claims.md")["traffic.py"])
    for options in (["--check"], []):
        shown = said("judge", "traffic.py", *options)
    for claim in ("shop-share-is-kept", "shop-cost-of-the-promise"):
        assert re.search(rf"{claim}\s.*reproduced", shown), shown
        assert not re.search(rf"{claim}\s.*not reproduced", shown), shown
