"""Regrets and fairness measures, from recorded plays and rewards and the true means."""
