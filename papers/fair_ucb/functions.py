"""What several claims of Fair-UCB ask of a run, or of a proof."""

import numpy as np


def steps_broken(proof):
    """1 for each step of a proof about UCB1 or Fair-UCB that does not hold, else 0."""
    from fairbandits.theory.derivations import ucb1_proofs  # SymPy is slow to load

    return [step() for step in ucb1_proofs.PROOFS[proof]]


def most_missed(run):
    """Most pulls by which any arm was below its quota in whole pulls, in any round up to T."""
    return run.end("floor_deficit_sup").max(axis=1)


def over(own, tolerances, values):
    """Values of the run with each tolerance, as (replicate, tolerance)."""
    return np.stack([values(own(tolerance=one)) for one in tolerances], axis=1)
