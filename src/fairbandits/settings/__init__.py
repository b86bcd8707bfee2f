"""From YAML to checked settings: schemas, defaults, errors, variants."""
