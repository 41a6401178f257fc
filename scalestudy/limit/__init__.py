"""Where it goes: the limit laws of squared singular values."""

from scalestudy.limit.gaussian_equivalent import GaussianEquivalentLaw
from scalestudy.limit.law import Law
from scalestudy.limit.marchenko_pastur import MarchenkoPastur

__all__ = ["GaussianEquivalentLaw", "Law", "MarchenkoPastur"]
