"""The arena: all policies on common ground, each contract of fairness on each instance."""
