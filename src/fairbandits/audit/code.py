"""The fingerprint of the code that judges; the workflow asks without starting NumPy."""

from fairbandits.replication.reading import collect_code

#: Entry points of judging; the rest follows from imports.
AUDIT = ("audit/run.py", "audit/measures", "replication/banditq_uai2024.py")


def audit_code() -> str:
    return collect_code(*AUDIT)
