"""What needs no runs: optima, oracles, bounds, fluid laws, derivations, exact counts."""
