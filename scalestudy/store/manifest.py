"""The manifest: what a store is about and how large it is, as one record in the root's metadata.

It is the truth about a store. Arrays are resized one after the other, so a growth that is cut short leaves
them disagreeing; the manifest is replaced in one step before the first of them, and whoever opens the store
for writing makes the arrays agree with it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from scalestudy.ensembles import DRAW_VERSION, MODELS, Sizes
from scalestudy.errors import StoreError, StoreMismatchError
from scalestudy.study import Point, Spec

FORMAT = 1
AXES = ("d", "beta", "gamma", "psi")
LARGEST_CHUNK = 512

_IDENTITY: dict[str, Callable[[Any], Any]] = {
    "seed": int,
    "tokens": str,
    "polynomial": dict,
    "dtype": str,
    "models": tuple,
    "draw_version": int,
}


@dataclass(frozen=True)
class Manifest:
    """Identity, axes and chunking of a store.

    Attributes
    ----------
    identity : dict
        What can never change: seed, tokens, polynomial, dtype, models, draw_version.
    trials_per_block : int
        B: trials of one block, the length of its chunks along `trial`.
    chunk : int
        Length of a chunk along `rank` and `token`.
    trials : int
        The largest number of trials ever asked for at a point.
    d, beta, gamma, psi : tuple
        Axis values in the order in which they came: growing appends, so no chunk ever moves.
    """

    identity: dict[str, Any]
    trials_per_block: int
    chunk: int
    trials: int
    d: tuple[int, ...]
    beta: tuple[float, ...]
    gamma: tuple[float, ...]
    psi: tuple[float, ...]

    @classmethod
    def first(cls, spec: Spec, tokens: str, trials_per_block: int) -> Manifest:
        """Return the manifest of a new store for a spec."""
        grid = spec.grid
        largest = max(Sizes.at(d, gamma, 1.0).ell for d in grid.d for gamma in grid.gamma)
        return cls(
            identity=identity_of(spec, tokens),
            trials_per_block=trials_per_block,
            chunk=min(LARGEST_CHUNK, largest),
            trials=max(spec.trials_at(d) for d in grid.d),
            d=grid.d,
            beta=grid.beta,
            gamma=grid.gamma,
            psi=grid.psi,
        )

    def grown(self, spec: Spec) -> Manifest:
        """Return the manifest after growing to hold a spec as well; axes are appended to, nothing shrinks."""
        axes: dict[str, Any] = {
            name: _appended(getattr(self, name), getattr(spec.grid, name)) for name in AXES
        }
        return replace(self, trials=max(self.trials, *(spec.trials_at(d) for d in spec.grid.d)), **axes)

    def check(self, spec: Spec, tokens: str, place: str) -> None:
        """Refuse a spec that is another study than the store's.

        Raises
        ------
        StoreMismatchError
            Naming every part that differs, with both values.
        """
        asked = identity_of(spec, tokens)
        differing = [key for key in asked if asked[key] != self.identity.get(key)]
        if not differing:
            return
        if differing == ["draw_version"]:
            raise StoreMismatchError(
                f"{place} was drawn with draw version {self.identity.get('draw_version')}, this package has "
                f"{DRAW_VERSION}: the same seed gives other numbers. Use another store, "
                "or the version of the package that made this one."
            )
        lines = [
            f"  {key}: the store has {self.identity.get(key)!r}, the spec asks for {asked[key]!r}"
            for key in differing
        ]
        raise StoreMismatchError(
            f"{place} holds another study:\n"
            + "\n".join(lines)
            + "\nThese are fixed for a store; give the spec another `store`."
        )

    @property
    def lengths(self) -> dict[str, int]:
        """The length of every dimension."""
        tokens = max(Sizes.at(d, gamma, 1.0).ell for d in self.d for gamma in self.gamma)
        return {
            **{name: len(getattr(self, name)) for name in AXES},
            "trial": self.trials,
            "model": len(self.identity["models"]),
            "rank": tokens,
            "token": tokens,
            "block": -(-self.trials // self.trials_per_block),
        }

    def index(self, point: Point) -> tuple[int, int, int, int]:
        """Return the position of a point along the four axes.

        Raises
        ------
        ValueError
            If the store does not have the point.
        """
        return (
            self.d.index(point.d),
            self.beta.index(point.beta),
            self.gamma.index(point.gamma),
            self.psi.index(point.psi),
        )

    def point(self, index: Sequence[int]) -> Point:
        """Return the point at a position along the four axes."""
        d, beta, gamma, psi = index
        return Point(self.d[d], self.beta[beta], self.gamma[gamma], self.psi[psi])

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as plain JSON values."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, data: Any, place: str) -> Manifest:
        """Read a manifest back.

        Raises
        ------
        StoreError
            If it was written by another format of the package, or is damaged.
        """
        try:
            if data["format"] != FORMAT:
                raise StoreError(
                    f"{place} has store format {data['format']}; this package reads format {FORMAT}."
                )
            identity = {key: kind(data["identity"][key]) for key, kind in _IDENTITY.items()}
            found = cls(
                identity=identity,
                trials_per_block=int(data["trials_per_block"]),
                chunk=int(data["chunk"]),
                trials=int(data["trials"]),
                d=tuple(int(value) for value in data["d"]),
                beta=tuple(float(value) for value in data["beta"]),
                gamma=tuple(float(value) for value in data["gamma"]),
                psi=tuple(float(value) for value in data["psi"]),
            )
            found._refuse_nonsense()
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise StoreError(f"{place}: its manifest is damaged ({error!r}).") from None
        return found

    def _refuse_nonsense(self) -> None:
        if min(self.trials_per_block, self.chunk, self.trials) < 1:
            raise ValueError("a size below 1")
        for name in AXES:
            values = getattr(self, name)
            if not values or len(set(values)) < len(values) or not all(0 < v < float("inf") for v in values):
                raise ValueError(f"an impossible axis {name}")
        if not self.identity["models"] or not set(self.identity["models"]) <= set(MODELS):
            raise ValueError("unknown models")
        # The sizes of every point must exist: this raises where one rounds to 0.
        Sizes.at(min(self.d), min(self.gamma), min(self.psi))


def identity_of(spec: Spec, tokens: str) -> dict[str, Any]:
    """Return what a spec fixes for the life of a store; `tokens` is the label of its tokens."""
    polynomial: dict[str, Any] = {"c": spec.polynomial.c, "theta": spec.polynomial.theta}
    if spec.polynomial.theta == "monte_carlo":
        polynomial["samples"] = spec.polynomial.samples
    return {
        "seed": spec.seed,
        "tokens": tokens,
        "polynomial": polynomial,
        "dtype": spec.dtype,
        "models": spec.models,
        "draw_version": DRAW_VERSION,
    }


def _appended(held: tuple[Any, ...], asked: tuple[Any, ...]) -> tuple[Any, ...]:
    return held + tuple(value for value in asked if value not in held)
