import numpy as np
import pytest

from scalestudy.ensembles import (
    DRAW_VERSION,
    Sizes,
    draw_noise,
    draw_scores,
    draw_tokens,
    draw_weights,
    fill_normal,
    streams,
)

SIZES = Sizes(d=24, ell=20, d_qk=16)


def scores(sizes, tokens="orthonormal", seed=5, trial=0, dtype="float64"):
    out, *scratch = (np.full((sizes.ell, sizes.ell), np.nan, dtype) for _ in range(3))
    draw_scores(streams(seed, sizes, trial), sizes, tokens, out, tuple(scratch))
    return out


def test_streams_are_keyed_by_every_value():
    def first(seed=1, sizes=SIZES, trial=0):
        return [float(rng.standard_normal()) for rng in streams(seed, sizes, trial)]

    keys = [
        {},
        {"seed": 2},
        {"trial": 1},
        {"sizes": Sizes(25, 20, 16)},
        {"sizes": Sizes(24, 21, 16)},
        {"sizes": Sizes(24, 20, 17)},
    ]
    numbers = [number for key in keys for number in first(**key)]
    assert len(set(numbers)) == 4 * len(keys)
    assert first() == first()


def test_the_draw_of_this_version():
    # A change of these numbers changes the meaning of every stored seed: raise DRAW_VERSION with it.
    assert DRAW_VERSION == 1
    rngs = streams(2026, Sizes(64, 64, 64), 3)
    drawn = [float(rng.standard_normal()) for rng in rngs]
    pinned = [-0.2025480240396019, -0.36159200615415465, -2.2799861246660886, -0.49195014216331173]
    assert drawn == pinned


@pytest.mark.parametrize("tokens", ["orthonormal", "spherical", "gaussian", "matrix"])
@pytest.mark.parametrize(
    "sizes", [SIZES, Sizes(24, 20, 50), Sizes(24, 20, 40), Sizes(7, 1, 3), Sizes(3, 3, 1)]
)
def test_scores_are_the_literal_product(tokens, sizes):
    given = np.random.default_rng(0).standard_normal((sizes.ell, sizes.d)) if tokens == "matrix" else tokens
    rngs = streams(5, sizes, 0)
    X = draw_tokens(rngs.tokens, sizes, given)
    if tokens == "orthonormal":
        XW_Q, XW_K = (draw_weights(rng, sizes.ell, sizes.d_qk) for rng in (rngs.W_Q, rngs.W_K))
    else:
        XW_Q, XW_K = (X @ draw_weights(rng, sizes.d, sizes.d_qk) for rng in (rngs.W_Q, rngs.W_K))
    expected = XW_Q @ XW_K.T / np.sqrt(sizes.d_qk)
    np.testing.assert_allclose(scores(sizes, given), expected, rtol=1e-12, atol=1e-13)


def test_parseval_scores():
    sizes = Sizes(d=10, ell=20, d_qk=7)
    rngs = streams(5, sizes, 0)
    X = draw_tokens(rngs.tokens, sizes, "parseval")
    W_Q, W_K = (draw_weights(rng, sizes.d, sizes.d_qk) for rng in (rngs.W_Q, rngs.W_K))
    np.testing.assert_allclose(scores(sizes, "parseval"), X @ W_Q @ W_K.T @ X.T / np.sqrt(7), atol=1e-13)


def test_tokens_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="orthonormal tokens need gamma <= 1"):
        scores(Sizes(10, 20, 10))


def test_single_precision_gets_the_same_numbers():
    double, single = np.empty((300, 301)), np.empty((300, 301), np.float32)
    for out in (double, single):
        fill_normal(np.random.default_rng(4), out, scale=0.5)
    np.testing.assert_array_equal(single, double.astype(np.float32))
    np.testing.assert_allclose(scores(SIZES, dtype="float32"), scores(SIZES), atol=2e-6)


def test_noise_has_its_own_stream():
    W = np.empty((20, 20))
    draw_noise(streams(5, SIZES, 0).W, W)
    assert abs(np.corrcoef(W.ravel(), scores(SIZES).ravel())[0, 1]) < 0.2
    assert W.std() == pytest.approx(1, abs=0.15)
