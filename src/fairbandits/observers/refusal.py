"""What an observer says of a policy that it cannot watch."""

from typing import Any, NoReturn


def refuse(observer: Any, policy: Any, watched: str) -> NoReturn:
    """Raise TypeError; `watched` says which policies the observer does watch."""
    raise TypeError(f"{type(observer).__name__} can watch {watched} only, got {policy!r}")
