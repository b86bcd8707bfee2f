"""Benchmarks of the policies: static optima, oracles, bounds and fluid laws."""
