import tracemalloc

import numpy as np
import pytest

from scalestudy.ensembles import TOKENS, Sizes, check_tokens, draw_tokens, unit_rows


def rng():
    return np.random.default_rng(7)


def test_sizes_are_rounded_ratios():
    assert Sizes.at(100, gamma=0.333, psi=1.5) == Sizes(d=100, ell=33, d_qk=150)


@pytest.mark.parametrize(
    ("gamma", "psi", "message"),
    [(0.001, 1, r"Invalid ell = 0\. Must be at least 1"), (1, 0.001, r"Invalid d_qk = 0\.")],
)
def test_a_size_that_rounds_to_nothing_is_refused(gamma, psi, message):
    with pytest.raises(ValueError, match=message):
        Sizes.at(100, gamma, psi)


@pytest.mark.parametrize(
    ("tokens", "allowed"),
    [
        ("identity", [1]),
        ("orthonormal", [0.5, 1]),
        ("spherical", [0.5, 1, 2]),
        ("gaussian", [0.5, 1, 2]),
        ("parseval", [1, 2]),
    ],
)
def test_where_tokens_are_allowed(tokens, allowed):
    assert [gamma for gamma in (0.5, 1, 2) if check_tokens(tokens, gamma) is None] == allowed


def test_a_reason_names_the_rule_and_the_value():
    assert check_tokens("parseval", 0.5) == "parseval tokens need gamma >= 1 (ell >= d), got gamma = 0.5"
    assert "unknown tokens 'ortho'" in check_tokens("ortho", 1)


@pytest.mark.parametrize("tokens", TOKENS)
def test_drawing_tokens_obeys_the_rule(tokens):
    for gamma in (0.5, 1, 2):
        sizes = Sizes.at(20, gamma, 1)
        if check_tokens(tokens, gamma) is None:
            assert draw_tokens(rng(), sizes, tokens).shape == (sizes.ell, sizes.d)
        else:
            with pytest.raises(ValueError, match=f"Invalid tokens: {tokens} tokens need gamma"):
                draw_tokens(rng(), sizes, tokens)


def test_gram_laws():
    wide, tall = Sizes(d=40, ell=30, d_qk=1), Sizes(d=30, ell=60, d_qk=1)
    X = draw_tokens(rng(), wide, "orthonormal")
    np.testing.assert_array_equal(X @ X.T, np.eye(30))
    X = draw_tokens(rng(), tall, "parseval")
    np.testing.assert_allclose(X.T @ X, 2 * np.eye(30), atol=1e-13)
    X = draw_tokens(rng(), tall, "spherical")
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-14)
    X = draw_tokens(rng(), Sizes(d=400, ell=500, d_qk=1), "gaussian")
    assert X.var() == pytest.approx(1 / 400, rel=0.02)


def test_parseval_tokens_do_not_depend_on_the_signs_of_a_qr_routine():
    sizes = Sizes(d=30, ell=60, d_qk=1)
    drawn = rng().standard_normal((60, 30))
    triangle = draw_tokens(rng(), sizes, "parseval").T @ drawn
    np.testing.assert_allclose(np.tril(triangle, -1), 0, atol=1e-12)
    assert (np.diag(triangle) > 0).all()


def test_given_tokens_get_unit_rows_whatever_their_scale():
    given = np.diag([3.0, 1e200, 1e-200])
    np.testing.assert_allclose(draw_tokens(rng(), Sizes(3, 3, 1), given), np.eye(3), rtol=1e-14)
    assert given[0, 0] == 3.0


def test_unit_rows_are_taken_as_they_are():
    sizes = Sizes(d=30, ell=20, d_qk=1)
    unit = unit_rows(rng().standard_normal((20, 30)), sizes)
    assert draw_tokens(rng(), sizes, unit) is unit
    off = unit.copy()
    off[3] *= 1 + 1e-9
    np.testing.assert_allclose(draw_tokens(rng(), sizes, off), unit, rtol=1e-14)


@pytest.mark.parametrize("shape", [(7, 5), (3, 40_000), (2, 300_000), (5000, 60)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_scaling_in_pieces_is_scaling_at_once_to_the_last_bit(shape, order):
    drawn = rng().standard_normal(shape)
    given = np.asarray(drawn, order=order)
    sizes = Sizes(d=shape[1], ell=shape[0], d_qk=1)
    expected = drawn / np.abs(drawn).max(axis=1, keepdims=True)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_array_equal(unit_rows(given, sizes), expected)
    spherical = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    np.testing.assert_array_equal(draw_tokens(rng(), sizes, "spherical"), spherical)


@pytest.mark.parametrize("tokens", ["spherical", "given", "file"])
def test_no_temporary_is_as_large_as_the_tokens(tokens):
    sizes = Sizes(d=20_000, ell=200, d_qk=1)
    given = unit_rows(rng().standard_normal((200, 20_000)), sizes)
    tracemalloc.start()
    try:
        unit_rows(given, sizes) if tokens == "file" else draw_tokens(
            rng(), sizes, given if tokens == "given" else tokens
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < (0 if tokens == "given" else given.nbytes) + 5e6


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_given_tokens_need_usable_rows(bad):
    given = np.eye(3)
    given[1] = bad
    with pytest.raises(ValueError, match="row 1 is zero, NaN or infinite"):
        unit_rows(given, Sizes(3, 3, 1))


def test_given_tokens_need_the_right_shape():
    with pytest.raises(ValueError, match=r"shape \(3, 2\)\. Must be \(ell, d\) = \(3, 3\)"):
        unit_rows(np.ones((3, 2)), Sizes(3, 3, 1))
