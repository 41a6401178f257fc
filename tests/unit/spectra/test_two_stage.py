import importlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import threadpoolctl

from scalestudy.spectra import SVD, Gram, TwoStage, choose, installation_note, resolve, solver, two_stage
from scalestudy.spectra.gram import gram_matrix
from scalestudy.spectra.spike import align_spike


@pytest.mark.parametrize(
    ("n", "stages"),
    [
        (100, two_stage.Stages(16, "sbtrd")),
        (100, two_stage.Stages(24, "sytrd_sb2st")),
        (65, two_stage.Stages(64, "sytrd_sb2st")),
        (64, two_stage.Stages(64, "sbtrd")),
        (65, two_stage.Stages(3, "sytrd_sb2st")),
        (1400, None),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("centred", [True, False])
def test_every_way_through_the_stages(monkeypatch, n, stages, dtype, centred):
    if stages is not None:
        monkeypatch.setattr(two_stage, "stages", lambda n: stages)
    B = np.random.default_rng(n).standard_normal((n, n)) / np.sqrt(n)
    if centred:
        B -= B.mean(axis=1, keepdims=True)
    B = B.astype(dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-4
    reference = (Gram if n > 1000 else SVD)().squares_with_spike(B.astype(np.float64))
    found = TwoStage().squares_with_spike(B.copy())
    for values, expected in zip(found, reference, strict=True):
        np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance * expected[0])
    np.testing.assert_allclose(TwoStage().squares(B), reference[0], rtol=0, atol=tolerance * reference[0][0])


@pytest.mark.parametrize("method", [Gram, TwoStage])
def test_scratch_memory_of_an_earlier_call_does_not_matter(method):
    solver = method()
    B = np.random.default_rng(0).standard_normal((60, 60))
    expected = solver.squares_with_spike(B.copy())
    with pytest.raises(ValueError, match="NaN"):
        solver.squares(np.full((60, 60), np.nan))
    solver.squares(np.ones((40, 40)))
    solver.squares(np.ones((60, 60), np.float32))
    with pytest.raises(ValueError, match="NaN"):
        solver.squares(np.full((60, 60), np.inf))
    for found, values in zip(solver.squares_with_spike(B.copy()), expected, strict=True):
        np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("centred", [True, False])
def test_the_spike_changes_the_leading_block_only(centred):
    n = 40
    B = np.random.default_rng(1).standard_normal((n, n))
    if centred:
        B -= B.mean(axis=1, keepdims=True)
    G = np.full((n, n), np.nan, order="F")
    gram_matrix(B, out=G)
    spike = align_spike(G, B.sum(axis=1) / np.sqrt(n))
    assert np.isnan(G[0, 1:]).all()
    G = np.tril(G) + np.tril(G, -1).T
    np.testing.assert_allclose(np.linalg.eigvalsh(G), np.linalg.eigvalsh(B @ B.T), atol=1e-11)
    assert (spike.across == 0) is centred
    G[0, 0] += spike.corner
    G[1, 0] += spike.across
    G[0, 1] += spike.across
    spiked = B + 1 / np.sqrt(n)
    np.testing.assert_allclose(np.linalg.eigvalsh(G), np.linalg.eigvalsh(spiked @ spiked.T), atol=1e-11)


@pytest.mark.parametrize("name", ["svd", "gram", "two_stage"])
@pytest.mark.parametrize("shape", [(3, 4), (0, 0), (5,)])
def test_only_square_matrices(name, shape):
    with pytest.raises(ValueError, match=r"Invalid matrix of shape .* Must be square and not empty"):
        solver(name).squares(np.ones(shape))


@pytest.mark.parametrize("name", ["svd", "gram", "two_stage"])
def test_only_real_floats(name):
    with pytest.raises(ValueError, match="Invalid matrix of int64"):
        solver(name).squares(np.ones((4, 4), int))


def test_policy_goes_by_size_precision_and_installation(monkeypatch):
    assert [choose(n).name for n in (10, 256, 1000, 4000)] == ["gram", "gram", "two_stage", "two_stage"]
    assert choose(1000, "float32").name == "gram"
    assert choose(4000, "float32").name == "two_stage"
    monkeypatch.setattr(importlib.import_module("scalestudy.spectra.choose"), "available", lambda: False)
    assert choose(4000).name == "gram"


def test_what_runs_goes_by_the_name_of_what_runs():
    assert [resolve("two_stage", n).name for n in (1, 31, 32, 400)] == [
        "gram",
        "gram",
        "two_stage",
        "two_stage",
    ]
    assert [resolve("auto", n).name for n in (31, 4000)] == ["gram", "two_stage"]
    assert resolve("svd", 5).name == "svd"
    with pytest.raises(ValueError, match="Invalid solver 'qr'"):
        resolve("qr", 5)


def test_a_missing_library_is_mentioned_where_it_would_be_used(monkeypatch):
    assert installation_note("auto", 4000) is None
    monkeypatch.setattr(importlib.import_module("scalestudy.spectra.choose"), "available", lambda: False)
    assert "1.7 times as long at ell = 2000" in installation_note("auto", 800)
    assert "1.2 times as long at ell = 2000" in installation_note("auto", 1300, "float32")
    for asked in (("auto", 799), ("auto", 1299, "float32"), ("gram", 4000), ("svd", 4000)):
        assert installation_note(*asked) is None


def test_without_the_library_everything_else_works():
    program = """
        import sys
        sys.modules["scipy_openblas64"] = None
        import numpy as np
        from scalestudy import spectra
        assert spectra.choose(2000).name == "gram"
        assert "not installed" in spectra.installation_note("auto", 2000)
        assert "pip install scipy-openblas64" in spectra.missing("two_stage")
        assert [spectra.or_auto(name) for name in ("two_stage", "none", "svd")] == ["auto", "auto", "svd"]
        assert spectra.solve_flops(2000, ["Y"], "two_stage") < spectra.solve_flops(2000, ["Y"], "gram")
        assert len(spectra.solver("gram").squares(np.eye(50))) == 50
        try:
            spectra.solver("two_stage").squares(np.eye(50))
        except ValueError as error:
            assert "needs the package scipy-openblas64" in str(error)
        else:
            raise AssertionError
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_a_limit_on_threads_reaches_the_library():
    with threadpoolctl.threadpool_limits(1):
        ours = [pool for pool in threadpoolctl.threadpool_info() if "/scipy_openblas64/" in pool["filepath"]]
        assert [pool["num_threads"] for pool in ours] == [1]


def test_flops_and_bytes_grow_as_they_should():
    method = TwoStage()
    for n in (100, 1000, 4000):
        assert method.flops(n) < method.spike_flops(n) < 2 * method.flops(n)
        assert 8 * n * n < method.workspace_bytes(n, "float64") == 2 * method.workspace_bytes(n, "float32")
    assert method.workspace_bytes(4000, "float64") < 1.15 * 8 * 4000**2
