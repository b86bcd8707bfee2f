"""Checking claims without data: those that are there are sound, and planted faults are found."""

import shutil

import pytest

import real
from fairbandits.audit import claims, measures
from fairbandits.audit.claims import load
from fairbandits.audit.tiny import Tiny, _imports, asked, problems
from fairbandits.settings.schemas import ROOT

#: Claim, what stands there, what is put in its place, and what is said of it.
FAULTS = [
    ("htucb-intro-user-knob", '"user_rates"', '"user_rate"', "did you mean 'user_rates'"),
    ("htucb-intro-user-knob", 'end("plays")', 'end("play")', "no measure 'play'"),
    ("htucb-intro-user-knob", "pulls[:, arm + 1]", "pulls[:, arm + 2]", "IndexError: index 5"),
    ("htucb-intro-user-knob", "user_knob(runs)", "user_knob()", "takes 0 posi"),
    ("htucb-abs-superiority", '"ucb1", "soft")', '"ucb1", "sft")', "policy = 'sft'; did you mean"),
    ("htucb-abs-superiority", "eta_exponent=0.5", "eta_exponnt=0.5", "'eta_exponent'"),
    ("htucb-abs-superiority", "eta_exponent=0.5", "eta_exponent=0.4", "no run has eta_exponent"),
    ("htucb-abs-superiority", '.each("N", "tau")', '.each("N")', "one run is wanted"),
    ("htucb-abs-superiority", "cases(round=ht_ucb.rounds)", "ht_ucb.rounds", "two cases 'N = "),
    ("htucb-abs-superiority", ".control(control)", "", "needs a control, or `uncontrolled="),
    ("htucb-abs-asymptotic-fairness", 'reading("floors")', 'reading("floor")', "reading 'floor'"),
    ("htucb-abs-asymptotic-fairness", ", uncontrolled=AGAINST", "", "needs a control"),
    ("htucb-intro-favours-below-level", "steps(run)", "step(run)", "name 'step' is not defined"),
    ("banditq-abs-targets", "law=law).each", "low=law).each", "no run has a coordinate 'low'"),
    ("banditq-abs-targets", 'each("feedback")', 'each("feedbck")', "has no 'feedbck'"),
    ("banditq-prop2-violation", '"arms_low"', '"arm_low"', "did you mean 'arms_low'"),
    ("banditq-prop2-violation", "at_most=0.25", "at_mots=0.25", "did you mean 'at_most'"),
    ("banditq-prop2-violation", ", name=\"in_rounds\"", ", nam=\"in_rounds\"", "mean 'name'"),
    ("banditq-prop5-v0", 'failed_steps, "', 'failed_steps, ("y", 3), "', "too many positional"),
    ("banditq-prop5-v0", '["squares"]', '["square"]', "did you mean 'squares'"),
    ("banditq-prop5-v0", '["squares"]', '["queue_max"]', "does not record 'queue_max'"),
    ("banditq-fig5-published", '"fig5", "b', '"fig55", "b', "KeyError: 'fig55'"),
    ("fairucb-thm4-bound", 'policy="careless"', 'policy="carelss"', "did you mean 'careless'"),
    ("fairucb-fig2-violation-increasing", '"deficit_sup"', '"deficit_spu"', "'deficit_sup'"),
    ("fairucb-fig3-comparable", "eta=eta", "eta=2 * eta", "no run has eta = "),
    ("bf-abs-sqrtT", 'label="BF-UCB"', 'label="BFUCB"', "did you mean 'BF-UCB'"),
    ("bf-fig2-to-zero-high-maj", '"high_uniform", 0', '"high_uniform", 5', "IndexError"),
    ("bf-fig3a-initial-cause", "difference=", "diffrence=", "no 'diffrence'"),
]  # fmt: skip


@pytest.mark.parametrize("paper", real.papers())
def test_the_claims_are_sound(paper):
    assert list(problems(real.papers()[paper], real.config())) == []


@pytest.mark.parametrize(("key", "good", "bad", "message"), FAULTS)
def test_a_planted_fault_is_found(key, good, bad, message, tmp_path, monkeypatch):
    claim = real.every()[key]
    monkeypatch.setattr(claims, "asking_code", lambda file: "")
    monkeypatch.setitem(measures._MEASURES, claim.paper, {})  # afterwards those of the real file
    folder = tmp_path / claim.paper
    shutil.copytree(ROOT / "papers" / claim.paper, folder)
    file = folder / "claims.py"
    text = file.read_text(encoding="utf-8")
    assert claim.source.count(good) >= 1, claim.source
    file.write_text(text.replace(claim.source, claim.source.replace(good, bad, 1)), "utf-8")
    paper = load(file)
    answered = asked(paper.claims[key], paper, Tiny(real.config(), claim.paper))
    messages = [answer.message for answer in answered if answer.message]
    assert messages
    assert message in messages[0]
    assert messages[0].startswith(("claims.py, line ", "measures.py, line "))


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("import numpy as np", ""),
        ("from fairbandits.theory import bounds", ""),
        ("import words", ""),  # a file beside
        ("import os.path", "claims.py, line 2: a claim cannot import os.path"),
        ("from pandas import read_csv", "claims.py, line 2: a claim cannot import pandas"),
        ("from . import words", "claims.py, line 2: a claim cannot import ."),
    ],
)
def test_a_claim_imports_little(line, refused, tmp_path):
    (tmp_path / "words.py").write_text("")
    (tmp_path / "claims.py").write_text(f'"""Claims."""\n{line}\n')
    assert list(_imports(tmp_path / "claims.py")) == [refused] * bool(refused)
