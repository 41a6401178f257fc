"""How lengths of time, amounts of memory and counts are said to a person."""

from __future__ import annotations

import math


def duration(seconds: float) -> str:
    """Return a length of time as a person says it: 0.4 s, 12 s, 3 min 20 s, 2 h 05 min, 3 d 4 h."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def size(count: float) -> str:
    """Return bytes as a person says them: 340 B, 1.2 MB, 5.6 GB."""
    rounded = float(f"{count:.3g}")
    power = min(4, int(math.log10(max(rounded, 1.0)) // 3))
    return f"{rounded / 1000**power:.6g} {['B', 'kB', 'MB', 'GB', 'TB'][power]}"


def counted(number: int, what: str) -> str:
    """Return a number of things: 1 block, 2 blocks."""
    return f"{number} {what}{'' if number == 1 else 's'}"
