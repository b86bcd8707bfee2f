"""The refusal of a policy that an observer cannot watch."""

from typing import Any, NoReturn


def refuse(observer: Any, policy: Any, watched: str) -> NoReturn:
    """Raise TypeError; `watched` names the policies that the observer can watch."""
    raise TypeError(f"{type(observer).__name__} can watch {watched} only, got {policy!r}")
