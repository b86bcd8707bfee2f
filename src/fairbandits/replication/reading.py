"""The fingerprint of what reads recorded runs; the workflow asks without starting NumPy."""

from fairbandits.data.provenance import WITHOUT, fingerprint, used_by

#: The code that joins chunks into datasets and reads these.
READING = ("data/store.py", "replication/datasets.py", "replication/recorded.py")
#: Files that decide which runs exist: a run's settings are compared wherever it is read.
CONFIGURING = (
    *("settings/config.py", "settings/experiments.py", "settings/models.py", "settings/papers.py"),
    *("settings/scales.py", "settings/schemas.py"),
)


def collect_code(*parts: str) -> str:
    """Return the fingerprint of the code that joins chunks into datasets, and of more parts."""
    without = tuple(file for file in (*WITHOUT, *CONFIGURING) if file not in READING)
    return fingerprint(*used_by(*dict.fromkeys((*parts, *READING)), without=without))
