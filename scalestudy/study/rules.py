"""What the fields of a spec must satisfy together: sizes, tokens, polynomial, dtype, bulk, cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scalestudy.ensembles import check_tokens
from scalestudy.study.problems import Problem
from scalestudy.study.quoting import listed
from scalestudy.study.statistics import POLYNOMIAL_MODELS, SMALLEST_POLYNOMIAL_D

if TYPE_CHECKING:
    from scalestudy.study.spec import Spec

# Squared singular values are of the order e^{beta^2}: beyond these they leave the dtype's range.
LARGEST_BETA = {"float64": 25.0, "float32": 9.0}
SMALLEST_BETA = 1e-6
LARGEST_SIZE = 1_000_000
# A plan is held in memory, and every block is a handful of files.
LARGEST_POINTS = 100_000
LARGEST_TRIALS = 100_000_000
LARGEST_BLOCKS = 10_000_000


def broken_rules(spec: Spec) -> Iterator[Problem]:
    """Yield one problem for every rule that the spec breaks."""
    yield from _sizes(spec)
    yield from _tokens(spec)
    yield from _dimension(spec)
    yield from _beta(spec)
    yield from _trials(spec)
    yield from _amount(spec)
    yield from _cluster(spec)


def _sizes(spec: Spec) -> Iterator[Problem]:
    smallest, largest = min(spec.grid.d), max(spec.grid.d)
    for psi in spec.grid.psi:
        # The largest double times d is infinite, and that cannot be rounded.
        if round(min(psi * smallest, LARGEST_SIZE)) < 1:
            yield Problem(
                ("grid", "psi"),
                f"psi = {psi} gives head width d_qk = round(psi d) = 0 at d = {smallest}; "
                f"needs psi above {0.5 / smallest:.3g}.",
            )
    for gamma in spec.grid.gamma:
        ell = round(min(gamma * smallest, LARGEST_SIZE))
        if ell < 1:
            yield Problem(
                ("grid", "gamma"),
                f"gamma = {gamma} gives ell = round(gamma d) = 0 tokens at d = {smallest}; "
                f"needs gamma above {0.5 / smallest:.3g}.",
            )
        elif ell <= spec.bulk.drop:
            yield Problem(
                ("bulk", "drop"),
                f"{spec.bulk.drop} leaves no bulk at d = {smallest}, gamma = {gamma}, where ell = {ell}; "
                "needs drop < ell.",
            )
    for name, ratio in [("gamma", max(spec.grid.gamma)), ("psi", max(spec.grid.psi))]:
        if ratio * largest > LARGEST_SIZE:
            yield Problem(
                ("grid", name),
                f"{ratio} at d = {largest} gives a size of {ratio * largest:.6g}; at most {LARGEST_SIZE}.",
            )


def _tokens(spec: Spec) -> Iterator[Problem]:
    if isinstance(spec.tokens, str):
        for gamma in spec.grid.gamma:
            reason = check_tokens(spec.tokens, gamma)
            if reason:
                yield Problem(("grid", "gamma"), f"{reason}.")
    elif len(spec.grid.d) * len(spec.grid.gamma) > 1:
        yield Problem(("grid",), "a token file fixes d and gamma = ell/d; give one value for each.")


def _dimension(spec: Spec) -> Iterator[Problem]:
    named = [name for name in POLYNOMIAL_MODELS if name in spec.models]
    small = [d for d in spec.grid.d if d < SMALLEST_POLYNOMIAL_D]
    if named and small:
        yield Problem(
            ("grid", "d"),
            f"{listed(small)}: below d = {SMALLEST_POLYNOMIAL_D} the degree log d / log log d "
            f"of {' and '.join(named)} is not defined; leave out these d or these models.",
        )


def _beta(spec: Spec) -> Iterator[Problem]:
    largest = LARGEST_BETA[spec.dtype]
    for beta in spec.grid.beta:
        if not SMALLEST_BETA <= beta <= largest:
            yield Problem(
                ("grid", "beta"),
                f"{beta} is not allowed: e^(beta^2) must be representable; "
                f"allowed with dtype {spec.dtype}: {SMALLEST_BETA} to {largest}.",
            )


def _trials(spec: Spec) -> Iterator[Problem]:
    if isinstance(spec.trials, dict):
        missing = [d for d in spec.grid.d if d not in spec.trials]
        if missing:
            yield Problem(
                ("trials",),
                f"no number for d = {listed(missing)}; a mapping must name every d of the grid.",
            )


def _amount(spec: Spec) -> Iterator[Problem]:
    grid = spec.grid
    points = len(grid.d) * len(grid.beta) * len(grid.gamma) * len(grid.psi)
    if points > LARGEST_POINTS:
        yield Problem(("grid",), f"has {points:,} points; at most {LARGEST_POINTS:,}.")
    at_each = [spec.trials if isinstance(spec.trials, int) else spec.trials.get(d, 0) for d in grid.d]
    trials = points // len(grid.d) * sum(at_each)
    if trials > LARGEST_TRIALS:
        yield Problem(("trials",), f"asks for {trials:,} trials in all; at most {LARGEST_TRIALS:,}.")
    elif isinstance(spec.trials_per_block, int) and trials // spec.trials_per_block > LARGEST_BLOCKS:
        yield Problem(
            ("trials_per_block",),
            f"{spec.trials_per_block} gives {trials // spec.trials_per_block:,} blocks; "
            f"at most {LARGEST_BLOCKS:,}.",
        )


def _cluster(spec: Spec) -> Iterator[Problem]:
    cluster = spec.cluster
    address = cluster.scheduler if isinstance(cluster.scheduler, str) else None
    given = {"scheduler": address, "scheduler_file": cluster.scheduler_file, "class": cluster.class_}
    ways = [name for name, value in given.items() if value]
    if len(ways) > 1:
        yield Problem(("cluster",), f"{' and '.join(ways)} exclude each other; keep one.")
    if cluster.arguments and not cluster.class_:
        yield Problem(
            ("cluster",),
            f"unknown key {listed(cluster.arguments)}: arguments go with class; "
            "allowed: workers, scheduler, scheduler_file, class.",
        )
