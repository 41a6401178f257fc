"""How numbers and axes are put into words: in figures, tables, the page and the verdict alike."""

from __future__ import annotations

AXIS_SYMBOLS = {"d": "$d$", "beta": r"$\beta$", "gamma": r"$\gamma$", "psi": r"$\psi$"}


def signed(value: float, digits: int = 2) -> str:
    """Return a number with a true minus sign, and none before zero.

    Examples
    --------
    >>> signed(-0.187), signed(-0.001)
    ('\N{MINUS SIGN}0.19', '0.00')
    """
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0.0 else text.replace("-", "\N{MINUS SIGN}")


def short(value: float) -> str:
    r"""Return a number in few characters, in mathtext where it is large.

    Examples
    --------
    >>> short(1002.21), short(9.0095), short(122634.0)
    ('1002', '9.01', '$1.2\\times 10^{5}$')
    """
    if abs(value) < 1e4:
        return f"{value:.4g}" if abs(value) >= 100 else f"{value:.3g}"
    mantissa, power = f"{value:.1e}".split("e")
    return rf"${mantissa}\times 10^{{{int(power)}}}$"


def percent(value: float) -> str:
    """Return a percentage with about two digits, and its zeros.

    Examples
    --------
    >>> percent(0.984), percent(2.0), percent(95.2)
    ('0.98', '2.0', '95')
    """
    return f"{value:.2f}" if value < 0.995 else f"{value:.1f}" if value < 9.95 else f"{value:.0f}"
