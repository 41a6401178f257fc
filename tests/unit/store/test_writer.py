"""Writing blocks: whole chunks, `done` last, and checksums that see one flipped bit."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from scalestudy.store import BlockWriter, completed, open_study
from scalestudy.store.writer import _arrays
from scalestudy.study import Block, Point

CHUNKS = {
    "squared_singular_values": "c.0.0.0.0.0.0.0",
    "row_normalizer": "c.0.0.0.0.0.0",
    "seconds": "c.0.0.0.0.0",
    "solver": "c.0.0.0.0.0",
    "done": "c.0.0.0.0.0",
}


def first(point, block):
    return point.d == 16 and block.index == 0


def test_a_writer_travels(study):
    study.prepare()
    writer = BlockWriter.of(study.location, study.manifest, "r")
    assert pickle.loads(pickle.dumps(writer)) == writer
    assert len(pickle.dumps(writer)) < 1000


def test_done_is_written_last(study, monkeypatch):
    study.prepare()
    order = []
    put = BlockWriter._put

    async def watched(self, array, slot, values):
        await put(self, array, slot, values)
        order.append(array.basename)
        assert not study.location.exists("done/c.0.0.0.0.0")

    monkeypatch.setattr(BlockWriter, "_put", watched)
    study.write(only=first)
    assert sorted(order) == ["row_normalizer", "seconds", "solver", "squared_singular_values"]
    assert study.location.exists("done/c.0.0.0.0.0")


@pytest.mark.parametrize("name", list(CHUNKS)[:4])
def test_a_writer_that_fails_half_way_counts_nothing(study, monkeypatch, name):
    study.prepare()
    put = BlockWriter._put

    async def full(self, array, slot, values):
        if array.basename == name:
            raise OSError(28, "No space left on device")
        await put(self, array, slot, values)

    monkeypatch.setattr(BlockWriter, "_put", full)
    with pytest.raises(OSError, match="No space"):
        study.write(only=first)
    assert completed(study.location, study.manifest) == {}


@pytest.mark.parametrize("name", list(CHUNKS))
def test_a_flipped_bit_is_noticed(study, name):
    study.prepare()
    study.write()
    path = Path(study.location.url) / name / CHUNKS[name]
    good = path.read_bytes()
    assert len(good) > 4
    array = study.location.group("r")[name]
    for at in range(0, len(good), 1 + len(good) // 12):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        with pytest.raises((ValueError, RuntimeError), match="checksum"):
            array[...]


@pytest.mark.parametrize("name", list(CHUNKS))
@pytest.mark.parametrize("index", [0, 2])
def test_a_damaged_chunk_is_replaced_and_not_merged(study, name, index):
    study.prepare()
    study.write()
    want = study.location.group("r")[name][...]
    chunk = CHUNKS[name].split(".")
    chunk[5] = str(index)
    (Path(study.location.url) / name / ".".join(chunk)).write_bytes(b"damaged")
    study.write(only=lambda point, block: point.d == 16 and block.index == index)
    np.testing.assert_array_equal(study.location.group("r")[name][...], want)


def test_each_chunk_has_one_writer(study):
    study.prepare("grid.d=16,20,24", "trials=5")
    study.write(only=first)
    files = {path: path.stat().st_mtime_ns for path in Path(study.location.url).rglob("c.*")}
    study.write(only=lambda point, block: not first(point, block))
    assert all(path.stat().st_mtime_ns == at for path, at in files.items())


def test_a_long_lived_worker_sees_a_growth(study):
    study.prepare()
    study.write()
    before = _arrays(study.location.url, f"{id(study)}-{study.run}")
    study.prepare("grid.d=16,20,24", "trials=9")
    study.write()
    assert _arrays(study.location.url, f"{id(study)}-{study.run}") is not before
    ds = open_study(study.location.url)
    assert ds.done.sel(d=24).sum() == 9
    assert ds.squared_singular_values.sel(d=24).isel(model=0, rank=0).notnull().all()


def test_what_was_written_is_what_is_read(anywhere):
    anywhere.prepare("grid.beta=0.5,1")
    anywhere.write()
    ds = open_study(anywhere.location.url).load()
    for d in (16, 20):
        for beta in (0.5, 1.0):
            point = Point(d, beta, 0.5, 1.0)
            held = ds.sel(d=d, beta=beta, gamma=0.5, psi=1.0)
            for index in range(3):
                block = Block(point, index, 2 * index, min(2 * index + 2, 5))
                want, ell, at = anywhere.block(point, block), d // 2, slice(block.start, block.stop)
                values = held.squared_singular_values.values[at]
                np.testing.assert_array_equal(values[..., :ell], want.squared_singular_values)
                assert np.isnan(values[..., ell:]).all()
                np.testing.assert_array_equal(held.row_normalizer.values[at, :ell], want.row_normalizer)
                np.testing.assert_array_equal(held.seconds.values[at], want.seconds)
                assert (held.solver.values[at] == 2).all()
