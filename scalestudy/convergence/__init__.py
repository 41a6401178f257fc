"""HOW FAR IT IS: distances between spectra and laws, and the rates at which they fall."""

from scalestudy.convergence.needed import d_needed
from scalestudy.convergence.rates import rates
from scalestudy.convergence.table import distances

__all__ = ["d_needed", "distances", "rates"]
