"""A small ledger of BanditQ's, whose claims have one test each, and numbers to judge by it."""

import numpy as np
import yaml

from fairbandits.audit.ledger import load_ledgers


def claim(**changes):
    """Return a claim with one test of a mean against 1, as a ledger's file has it."""
    block = {
        "place": "Theorem 1",
        "statement": "The mean is at most 1.",
        "kind": "bound",
        "primary": False,
        "version": 1,
        "estimand": "the mean",
        "cells": {"experiments": ["full_information"]},
        "family": "single",
        "tests": {
            "mean": {"rule": "at_most", "inputs": {"values": "total(reward) @ T", "against": 1}}
        },
    }
    return block | changes


def without_tests(**changes):
    kept = ("place", "statement", "kind", "primary")
    return {key: value for key, value in claim().items() if key in kept} | changes


def ledgers_of(config, folder, claims):
    """Return the ledger of these claims, by its paper."""
    (folder / "papers" / "banditq").mkdir(parents=True, exist_ok=True)
    content = {
        "paper": "banditq",
        "title": "A test",
        "readings": {"one": "The first.", "two": "The second."},
        "families": {
            "single": {"what": "each", "level": 0.99, "correction": "none"},
            "primary": {"what": "together", "level": 0.99, "correction": "holm"},
        },
        "rules": {
            "at_most": {
                "version": 1,
                "procedure": "mean",
                "settings": {"claim": "at most", "level": 0.99},
            },
            "exact": {"version": 1, "procedure": "exact", "settings": {"tolerance": 0}},
        },
        "claims": claims,
    }
    text = yaml.safe_dump(content, sort_keys=False)
    (folder / "papers" / "banditq" / "claims.yaml").write_text(text)
    return load_ledgers(config, folder)


def spread(mean, n=30, sd=0.1):
    """Return numbers of exactly this mean and about this spread."""
    values = np.random.default_rng(n).normal(size=n)
    return mean + sd * (values - values.mean())
