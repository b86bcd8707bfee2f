"""What the tests of the four ledgers' records share: each record asked of small datasets."""

import inspect
from dataclasses import replace
from functools import cache

import pytest
from numba import config

import real
import shrunk
from fairbandits.audit import cases
from fairbandits.audit.evidence import Evidence
from fairbandits.audit.finding import VERDICTS
from fairbandits.audit.procedures import PROCEDURES, parameters_of


class SmallEvidence(Evidence):
    """Simulates the version of an experiment that `shorter` gives, when it is first read."""

    def __init__(self, paper, results, shorter, seed):
        if config.DISABLE_JIT:
            pytest.skip("millions of rounds")
        super().__init__(real.config(), paper, results)
        self.shorter, self.seed = shorter, seed

    def recorded(self, name, columns=None):
        for one in map(self.shorter, self.config.named(self.paper, name)):
            if not (self.results / one.dataset).exists():
                shrunk.dataset_of(one, self.results, self.seed)
        yield from super().recorded(name, columns)


def records_of(ledger):
    """Return the tests of a ledger, each with its claim, by the names of both."""
    return {
        f"{claim.id} {test.name}": (claim, test)
        for claim in ledger.claims.values()
        for test in claim.tests
    }


def in_quick(plan, sizes):
    """Return a plan with small searches; `sizes` has what to write for the ledger's sizes."""

    def small(given):
        if isinstance(given, list):
            return [small(one) for one in given]
        for size, other in sizes.items():
            given = given.replace(size, other) if isinstance(given, str) else given
        return given

    return replace(plan, inputs={name: small(given) for name, given in plan.inputs.items()})


def asking(tests, sizes, evidence):
    """Return a function that gives a test's questions, and the datasets that were read for it."""

    @cache
    def ask(claim, test):
        record, its = tests[f"{claim} {test}"]
        evidence.read.clear()
        found = list(cases.questions(in_quick(its.plan, sizes), record.readings, evidence))
        return found, set(evidence.read)

    return ask


def judged(test, data, rng, resamples=200):
    """Return what a test's procedure finds; few resamples are enough here."""
    procedure, settings = PROCEDURES[test.procedure], dict(test.settings)
    if "rng" in inspect.signature(procedure).parameters:
        settings |= {"rng": rng} | ({"resamples": resamples} if "resamples" in settings else {})
    return procedure(**data, **settings)


def check_questions(claim, test, found, rng, *, partly=False):
    """Check that a test asks what its record says, and that its procedure takes each question.

    With `partly` a test that only qualifies a verdict may be asked under some readings.
    """
    assert found
    takes = parameters_of(test.procedure)
    for question in found:
        assert set(takes.data) <= set(question.data) <= {*takes.data, *takes.optional_data}
        assert question.reading in ("", *test.under(claim.readings))
        assert bool(question.each) == bool(test.each)
        assert judged(test, question.data, rng).verdict in VERDICTS
    labels = [(question.reading, question.each) for question in found]
    assert len(labels) == len(set(labels))
    readings = {question.reading for question in found}
    if test.decides or not partly:
        assert "" in readings or set(test.under(claim.readings)) <= readings


def check_read(claim, test, read, evidence):
    """Check that a test reads the datasets that its record names, and its claim names them too."""
    named = {
        evidence.results / one.dataset
        for experiment in test.plan.experiments
        for one in evidence.config.named(claim.paper, experiment)
    }
    assert read - evidence.replays == named
    assert set(test.plan.experiments) <= set(claim.experiments)
