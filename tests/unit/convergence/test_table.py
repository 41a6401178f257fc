import dask
import numpy as np
import pytest
import xarray as xr
from convergence_reference import MODELS, made_up_study

from scalestudy.convergence import VARIABLES, distances
from scalestudy.convergence.laws import Point
from scalestudy.convergence.point import measure_point
from scalestudy.convergence.table import _cut
from scalestudy.errors import AnalysisError
from scalestudy.limit import GaussianEquivalentLaw

LAW = GaussianEquivalentLaw(1.0)
DONE = np.array([[[[[2, 2]]]], [[[[2, 0]]]]])


@pytest.fixture(name="ds")
def _ds():
    return made_up_study(LAW)


@pytest.fixture(name="unfinished")
def _unfinished():
    return made_up_study(LAW, done=DONE)


def count_reads(ds):
    """Wrap the spectra so that every chunk that is read is counted."""
    reads = []

    def note(block):
        if block.size:
            reads.append(block.shape)
        return block

    data = ds["squared_singular_values"].data.map_blocks(note, dtype=float, meta=np.empty((0,) * 7))
    return ds.assign(squared_singular_values=ds["squared_singular_values"].copy(data=data)), reads


def test_variables_dims_and_labels(ds):
    result = distances(ds)
    assert list(result.data_vars) == list(VARIABLES)
    for name, variable in VARIABLES.items():
        assert result[name].dims == ("d", "beta", "gamma", "psi", *variable.dims)
        assert result[name].attrs == {"long_name": variable.long_name, "units": variable.units}
    assert list(result["model"].values) == list(MODELS)
    assert result["pair"].values[0] == "sqrt_d_A to sqrt_d_A_perp"
    assert set(result.coords) >= {"ell", "d_qk", "degree", "theta1_Q", "theta2_Q"}
    assert result.attrs["drop"] == 3
    assert result.attrs["tokens"] == "orthonormal"
    assert "law_errors" not in result.attrs


def test_each_point_is_what_measure_point_says(ds):
    result = distances(ds, drop=2).compute()
    for i, d in enumerate(ds["d"].values):
        expected = measure_point(
            ds["squared_singular_values"][i, 0, 0, 0].values,
            ds["row_normalizer"][i, 0, 0, 0].values,
            Point(int(d), int(d), int(d), 1.0, (1.7, 0.99)),
            MODELS,
            drop=2,
        )
        for name in VARIABLES:
            np.testing.assert_array_equal(result[name][i, 0, 0, 0], expected[name], err_msg=name)


def test_is_lazy_and_one_chunk_a_point(ds):
    watched, reads = count_reads(ds)
    result = distances(watched)
    assert not reads
    assert result["w1"].chunks[0] == (1, 1)
    result["w1"].isel(d=0).compute(scheduler="sync")
    assert reads
    assert all(shape[0] == 1 for shape in reads)
    assert len(reads) == 2


def test_without_dask_it_is_computed_at_once(ds):
    result = distances(ds.load())
    assert result["w1"].chunks is None
    xr.testing.assert_identical(result, distances(ds).compute())


def test_threads_and_processes_of_dask_agree(ds):
    one = distances(ds).compute(scheduler="sync")
    xr.testing.assert_identical(one, distances(ds).compute(scheduler="threads", num_workers=4))


def test_an_unfinished_study(unfinished):
    watched, reads = count_reads(unfinished)
    result = distances(watched).compute(scheduler="sync")
    np.testing.assert_array_equal(result["trials_used"].squeeze(), [4, 2])
    assert np.isfinite(result["w1"].isel(d=1, trial=slice(2))).all()
    assert np.isnan(result["w1"].isel(d=1, trial=slice(2, None))).all()
    # Of d = 24 only the block that is done is read, and of d = 16 nothing past its ranks.
    assert len(reads) == 2 + 2


def test_a_point_with_nothing_done():
    result = distances(made_up_study(LAW, done=np.array([[[[[2, 2]]]], [[[[0, 0]]]]]))).compute()
    assert result["trials_used"].values.ravel().tolist() == [4, 0]
    assert np.isnan(result["w1"].isel(d=1)).all()
    assert (result["floor"] > 0.0).all()


def test_a_selection(ds):
    whole = distances(ds).compute()
    result = distances(ds.sel(d=24, beta=1.0))
    assert result["w1"].dims == ("gamma", "psi", "trial", "model")
    xr.testing.assert_identical(result["w1"].compute(), whole["w1"].sel(d=24, beta=1.0))
    some = distances(ds.isel(trial=slice(1, 3), model=[1, 6])).compute()
    np.testing.assert_allclose(some["w1"], whole["w1"].isel(trial=slice(1, 3), model=[1, 6]), rtol=1e-13)
    assert (some["trials_used"] == 2).all()


def test_where_there_is_no_law(ds):
    wide = ds.assign_coords(ell=ds["ell"], d=ds["d"] // 2)
    result = distances(wide)
    assert result.attrs["law_errors"] == "Invalid gamma 2.0 for orthonormal tokens. Must be at most 1."
    result = result.compute()
    assert np.isnan(result["w1"]).all()
    assert np.isfinite(result["w1_mp"]).all()


def test_beta_outside_what_the_law_supports(ds):
    result = distances(ds.assign_coords(beta=[7.0]))
    assert result.attrs["law_errors"].startswith("Invalid beta 7.0. Must be in [0.0001, 6]")
    assert np.isnan(result["w1"].compute()).all()


def test_tokens_must_be_known(ds):
    ds.attrs.pop("scalestudy_manifest")
    with pytest.raises(AnalysisError, match="does not say what its tokens are"):
        distances(ds)
    assert np.isfinite(distances(ds, tokens="identity")["w1"].compute()).all()


def test_tokens_from_a_file_have_to_be_given():
    ds = made_up_study(LAW, tokens="matrix sha256:0123")
    result = distances(ds)
    assert result.attrs["law_errors"].startswith("The tokens came from a file")
    assert np.isnan(result["w1"].compute()).all()


@pytest.mark.parametrize(("drop", "least"), [(-1, 16), (16, 16), (24, 16)])
def test_drop_must_leave_something_of_the_smallest(ds, drop, least):
    with pytest.raises(AnalysisError, match=f"Invalid drop {drop}. Must be at least 0 .* {least}"):
        distances(ds, drop=drop)


def test_drop_is_a_whole_number(ds):
    with pytest.raises(AnalysisError, match=r"Invalid drop 2\.5\..* whole"):
        distances(ds, 2.5)


def test_cut_spectra_are_refused(ds):
    for ranks in (slice(3, None), slice(0, 8)):
        with pytest.raises(AnalysisError, match="keeps its dimension rank whole"):
            distances(ds.isel(rank=ranks), drop=0)


def test_a_study_squeezed_to_a_point_of_one_block():
    one = made_up_study(LAW, d=(16,), trials=2)
    expected = distances(one).compute().squeeze()
    xr.testing.assert_allclose(distances(one.squeeze()).compute().squeeze(), expected)


def test_other_datasets_are_refused(ds):
    with pytest.raises(AnalysisError, match="has no 'squared_singular_values'"):
        distances(ds.drop_vars("squared_singular_values"))
    with pytest.raises(AnalysisError, match="has no 'ell'"):
        distances(ds.drop_vars("ell"))
    with pytest.raises(AnalysisError, match="keeps its dimensions trial and model"):
        distances(ds.isel(model=1))


def test_survives_being_written(ds, tmp_path):
    result = distances(ds)
    result.to_zarr(tmp_path / "c.zarr", group="convergence", zarr_format=3, consolidated=False)
    back = xr.open_zarr(tmp_path / "c.zarr", group="convergence", consolidated=False)
    xr.testing.assert_allclose(back.compute(), result.compute())


class TestReuse:
    def test_only_what_changed_is_measured(self, ds, unfinished):
        before = distances(unfinished).compute(scheduler="sync")
        watched, reads = count_reads(ds)
        after = distances(watched, reuse=before).compute(scheduler="sync")
        xr.testing.assert_identical(after, distances(ds).compute())
        assert len(reads) == 2 * 2
        assert all(shape[-1] in (16, 8) for shape in reads)

    def test_new_axis_values_and_trials(self, ds):
        small = made_up_study(LAW, d=(16,), trials=2)
        before = distances(small).compute()
        grown = made_up_study(LAW, d=(16, 24), trials=4, done=np.array([[[[[2, 0]]]], [[[[2, 2]]]]]))
        marked = before.assign(w1=before["w1"] * 0 - 1.0)
        after = distances(grown, reuse=marked).compute()
        assert (after["w1"].isel(d=0, trial=slice(2)) == -1.0).all()
        assert np.isnan(after["w1"].isel(d=0, trial=slice(2, None))).all()
        xr.testing.assert_identical(after["w1"].isel(d=1), distances(grown)["w1"].isel(d=1).compute())

    @pytest.mark.parametrize("change", [{"drop": 2}, {"tokens": "identity"}])
    def test_what_was_measured_otherwise_is_measured_again(self, ds, change):
        before = distances(ds, **change).compute()
        after = distances(ds, reuse=before.assign(w1=before["w1"] * 0 - 1.0)).compute()
        assert (after["w1"] > 0.0).all()

    def test_other_models_are_measured_again(self, ds):
        before = distances(ds.isel(model=slice(0, 3))).compute()
        xr.testing.assert_identical(distances(ds, reuse=before).compute(), distances(ds).compute())

    def test_takes_lazy_distances(self, ds):
        with dask.config.set(scheduler="sync"):
            before = distances(ds)
            xr.testing.assert_identical(distances(ds, reuse=before).compute(), before.compute())


def test_results_do_not_hold_on_to_more_than_themselves():
    """Views of a point's packed measures would keep all of them in memory, once for each variable."""
    packed = np.arange(24.0).reshape(1, 1, 1, 1, 24)
    piece = _cut(packed, 6, 12, (2, 3))
    assert piece.base is None
    np.testing.assert_array_equal(piece[0, 0, 0, 0], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]])
