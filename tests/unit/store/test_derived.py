"""Derived groups are listed in the root while they are whole, and only then."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from scalestudy.errors import StoreError
from scalestudy.store import Location, read_group, write_group
from scalestudy.store.derived import group_metadata
from scalestudy.store.root import put_root, read_root

DATA = xr.Dataset({"w1": ("d", np.array([0.3, 0.2]))}, coords={"d": [16, 24]}, attrs={"drop": 3})


@pytest.fixture
def location(tmp_path):
    import scalestudy

    spec = tmp_path / "spec.yaml"
    spec.write_text(
        f"seed: 1\ngrid: {{d: [16], beta: [1.0]}}\ntrials: 2\nmodels: [Y_f_lin]\nstore: {tmp_path}/x.zarr\n"
    )
    scalestudy.run(spec, serial=True)
    return Location.of(tmp_path / "x.zarr")


@pytest.mark.filterwarnings("error")
def test_a_group_opens_without_a_warning_and_leaves_the_study_alone(location):
    before = xr.open_zarr(location.url).load()
    write_group(location, "convergence", DATA)
    xr.testing.assert_identical(xr.open_zarr(location.url, group="convergence").load(), DATA)
    xr.testing.assert_identical(read_group(location, "convergence"), DATA)
    xr.testing.assert_identical(xr.open_zarr(location.url).load(), before)


def test_a_group_survives_the_growth_of_the_study(location, tmp_path):
    import scalestudy

    write_group(location, "convergence", DATA)
    scalestudy.run(scalestudy.load_spec(tmp_path / "spec.yaml", set=["grid.d=16,20"]), serial=True)
    xr.testing.assert_identical(read_group(location, "convergence"), DATA)
    assert xr.open_zarr(location.url).sizes["d"] == 2


def test_half_a_group_is_none(location, monkeypatch):
    write_group(location, "convergence", DATA)

    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(xr.Dataset, "to_zarr", killed)
    with pytest.raises(KeyboardInterrupt):
        write_group(location, "convergence", DATA)
    assert read_group(location, "convergence") is None
    assert not any("convergence" in key for key in read_root(location)["consolidated_metadata"]["metadata"])


def arrays_of(location):
    return [path for path in Path(location.url, "convergence").rglob("*") if path.is_file()]


def test_a_flipped_bit_anywhere_in_a_group_makes_it_none(location):
    write_group(location, "convergence", DATA)
    files = arrays_of(location)
    assert len(files) == 5
    for path in files:
        whole = path.read_bytes()
        # The attributes of a document may say anything, but not other than the root has it.
        for at in range(0, len(whole), max(1, len(whole) // 25)):
            flipped = bytearray(whole)
            flipped[at] ^= 0x20
            try:
                unchanged = json.loads(flipped) == json.loads(whole)
            except ValueError:
                unchanged = False
            path.write_bytes(flipped)
            assert (read_group(location, "convergence") is None) != unchanged, (path, at)
        path.write_bytes(whole)
    assert read_group(location, "convergence") is not None


def test_a_lost_chunk_makes_it_none_also_where_it_is_all_nan(location):
    write_group(location, "convergence", DATA.assign(ks=("d", np.full(2, np.nan))))
    assert read_group(location, "convergence") is not None
    Path(location.url, "convergence/ks/c/0").unlink()
    assert read_group(location, "convergence") is None


def test_a_group_without_checksums_is_made_again(location):
    """As one that was written before there were any, or by hand."""
    write_group(location, "convergence", DATA)
    root = read_root(location)
    DATA.to_zarr(location.url, group="convergence", mode="w", zarr_format=3, consolidated=False)
    root["consolidated_metadata"]["metadata"] |= group_metadata(location, "convergence")
    put_root(location, root)
    assert read_group(location, "convergence") is None


def test_a_group_that_cannot_be_written_is_said(location, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.Dataset, "to_zarr", full)
    with pytest.raises(StoreError, match="No space left"):
        write_group(location, "convergence", DATA)
