"""From YAML to checked settings; on every start, so without an import of Numba or pandas."""
