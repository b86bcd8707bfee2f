"""A small paper whose claims ask about numbers that they make themselves."""

from types import SimpleNamespace

import numpy as np

from fairbandits.audit.answers import answers
from fairbandits.audit.claims import Paper
from fairbandits.audit.judge import judge

READINGS = {"one": "The first.", "two": "The second."}


def paper_of(slug="banditq", **claims):
    """Return a paper with these claims by id: a function, or fields of a claim without one.

    A function can come with fields: ``(function, {"primary": True})``.
    """
    paper = Paper(slug, "A test", READINGS)
    for name, given in claims.items():
        key = name.replace("_", "-")
        function, said = given if isinstance(given, tuple) else (given, {})
        if callable(function):
            paper._add((__file__, 1), key, "It holds.", "bound", "Theorem 1", of=function, **said)
        else:
            paper.bound(key, "Theorem 1", "It holds.", **function)
    return paper


def runs():
    """Return the runs of claims that read none."""
    return SimpleNamespace(read={}, most={})


def asked(function, **said):
    """Return the answers of the only claim of a paper."""
    paper = paper_of(t_a=(function, said))
    return answers(paper.claims["t-a"], paper, runs())


def judged(**claims):
    """Return the verdicts on the claims of a small paper, by claim and reading."""
    paper = paper_of(**claims)
    tested = [one for one in paper.claims.values() if one.of]
    found = [answer for one in tested for answer in answers(one, paper, runs())]
    return {(row.claim.id, row.reading): row for row in judge({paper.slug: paper}, found)}


def spread(mean, n=30, sd=0.1):
    """Return numbers of exactly this mean and about this spread."""
    values = np.random.default_rng(n).normal(size=n)
    return mean + sd * (values - values.mean())
