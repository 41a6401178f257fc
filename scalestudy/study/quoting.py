"""How a message shows what a user wrote: in one line, short, and with nothing that moves the cursor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_LONGEST = 60
_MOST = 6


def show(value: Any) -> str:
    """Return a value as a message quotes it, at most 60 characters.

    Examples
    --------
    >>> show("1.5")
    "'1.5'"
    """
    return _short(repr(value))


def plain(text: str) -> str:
    r"""Return a key or an option as a message names it: like `show`, without the quotes.

    Examples
    --------
    >>> print(plain("two\nlines"))
    two\nlines
    """
    return _short(repr(text)[1:-1])


def listed(things: Iterable[object]) -> str:
    """Return the first few of some keys or values, and how many there are if that is not all.

    Examples
    --------
    >>> listed([8, 9]), listed(range(100))
    ('8, 9', '0, 1, 2, 3, 4, 5, ... (100 in all)')
    """
    found = [plain(str(thing)) for thing in things]
    rest = f", ... ({len(found)} in all)" if len(found) > _MOST else ""
    return ", ".join(found[:_MOST]) + rest


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
