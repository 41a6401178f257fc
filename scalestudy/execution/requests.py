"""From a store's manifest to what a worker is asked: the request of a point, the slot of a block."""

from __future__ import annotations

from scalestudy.execution.block import Work
from scalestudy.execution.trial import TOKEN_FILE, TrialRequest
from scalestudy.store import Manifest, Slot
from scalestudy.study import Block, Group, Point
from scalestudy.study.statistics import POLYNOMIAL_MODELS, polynomial_statistics


def request_for(manifest: Manifest, point: Point, solver: str = "auto") -> TrialRequest:
    """Return what every trial of a point asks for, as the store's identity fixes it."""
    identity = manifest.identity
    polynomial = identity["polynomial"]
    n, theta1, theta2 = None, None, None
    if any(name in identity["models"] for name in POLYNOMIAL_MODELS):
        n, theta1, theta2 = polynomial_statistics(
            point.d, point.beta, polynomial["c"], polynomial.get("samples"), identity["seed"]
        )
    return TrialRequest(
        seed=identity["seed"],
        sizes=point.sizes,
        beta=point.beta,
        tokens=TOKEN_FILE if identity["tokens"].startswith("matrix ") else identity["tokens"],
        models=identity["models"],
        degree=n,
        theta1_Q=theta1,
        theta2_Q=theta2,
        dtype=identity["dtype"],
        solver=solver,
    )


def slot_of(manifest: Manifest, block: Block) -> Slot:
    """Return where the chunks of a block lie."""
    return Slot(manifest.index(block.point), block.index, block.start)


def works_of(manifest: Manifest, group: Group, solver: str) -> list[Work]:
    """Return the work of a group of blocks."""
    requests: dict[Point, TrialRequest] = {}
    works = []
    for block in group.blocks:
        if block.point not in requests:
            requests[block.point] = request_for(manifest, block.point, solver)
        works.append(Work(block, slot_of(manifest, block), requests[block.point]))
    return works
