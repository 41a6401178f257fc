"""Stores with made-up numbers: no trial is run."""

from dataclasses import dataclass

import numpy as np
import pytest

from scalestudy.store import BlockResult, BlockWriter, Location, Manifest, Slot, prepare
from scalestudy.study import Spec, blocks_of, override, parse_source, parse_spec, points_of

BASE = """\
seed: 1
grid: {d: [16, 20], beta: [1.0], gamma: [0.5], psi: [1.0]}
trials: 5
trials_per_block: 2
models: [sqrt_d_A_perp, Y_f]
bulk: {drop: 1}
"""
PROVENANCE = {"package": "p 1", "libraries": "n 1", "blas": "b 1", "commit": "", "updated": "2026-01-01"}


@dataclass
class Study:
    """A store in the making."""

    location: Location
    spec: Spec
    manifest: Manifest | None = None
    run: int = 0

    def asked(self, *options):
        """Return the spec with changes."""
        return parse_spec(override(parse_source(BASE, "f.yaml"), list(options)))

    def prepare(self, *options, tokens="orthonormal", matrix=None, size=2, attributes=PROVENANCE):
        """Create or grow the store for the spec with changes."""
        self.spec, self.run = self.asked(*options), self.run + 1
        self.manifest = prepare(
            self.location,
            self.spec,
            tokens=tokens,
            matrix=matrix,
            trials_per_block=size,
            attributes=attributes,
        )
        return self.manifest

    def block(self, point, block):
        """Return the made-up numbers of a block, which depend on its place alone."""
        ell, rng = point.sizes.ell, np.random.default_rng([point.d, block.start, int(1000 * point.beta)])
        values = np.sort(rng.random((2, 2, ell)), axis=-1)[:, :, ::-1]
        rest = rng.random((2, ell + 1))
        n = block.trials
        return BlockResult(values[:n], rest[:n, :-1], rest[:n, -1], "gram")

    def write(self, *, only=lambda point, block: True):
        """Write the blocks that the spec asks for."""
        writer = BlockWriter.of(self.location, self.manifest, f"{id(self)}-{self.run}")
        for point in points_of(self.spec):
            for block in blocks_of(point, self.spec.trials_at(point.d), self.manifest.trials_per_block):
                if only(point, block):
                    slot = Slot(self.manifest.index(point), block.index, block.start)
                    writer.write(slot, self.block(point, block))


@pytest.fixture
def study(tmp_path):
    return Study(Location.of(tmp_path / "s.zarr"), None)


@pytest.fixture(params=["local", "memory"])
def anywhere(request, tmp_path):
    place = tmp_path / "s.zarr" if request.param == "local" else f"memory://{tmp_path.name}/s.zarr"
    return Study(Location.of(place), None)
