"""Mathematics that expressions of a ledger call: programmes, searches and solvers, without runs."""
