"""From YAML to checked settings: schemas, defaults, errors, variants.

The workflow reads them on every start, so neither Numba nor pandas is imported by any of them.
"""
