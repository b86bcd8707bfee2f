"""What reads the files of a run: the public functions of `fairbandits.data.store`."""

from fairbandits.data.store import read_footer, read_table

__all__ = ["read_footer", "read_table"]
