import numpy as np
import pytest
from scipy import stats

from scalestudy.convergence.bootstrap import single_values, trial_means

X = np.array([64.0, 128.0, 256.0])


def lognormal(trials=30, seed=0, k=3):
    return np.exp(0.1 * np.random.default_rng(seed).standard_normal((k, trials)))


def test_means_and_errors():
    values = lognormal()
    means = trial_means(values, X)
    np.testing.assert_allclose(means.mean, values.mean(axis=1))
    np.testing.assert_allclose(means.error, stats.sem(values, axis=1))
    np.testing.assert_array_equal(means.trials, 30)
    assert means.resampled.shape == (2000, 3)


def test_resampled_means_scatter_like_the_mean_does():
    """With T - 1 in the denominator: a plain bootstrap would be 10 % short at five trials."""
    values = lognormal(trials=5)
    means = trial_means(values, X, samples=40_000)
    np.testing.assert_allclose(np.log(means.resampled).std(axis=0), means.error / means.mean, rtol=0.02)


def test_missing_trials_are_left_out():
    values = lognormal()
    values[1, 10:] = np.nan
    means = trial_means(values, X)
    np.testing.assert_array_equal(means.trials, [30, 10, 30])
    np.testing.assert_allclose(means.mean[1], values[1, :10].mean())


def test_a_d_with_one_trial_or_none_is_left_out():
    values = lognormal()
    values[0, 1:] = np.nan
    values[2] = np.nan
    assert trial_means(values, X).x.tolist() == [128.0]


def test_trials_are_resampled_together_across_rungs():
    """A rung that is a multiple of another stays so in every sample."""
    values = lognormal()
    one, other = trial_means(values, X), trial_means(3.0 * values, X)
    np.testing.assert_allclose(other.resampled, 3.0 * one.resampled, rtol=1e-12)


def test_different_d_are_resampled_independently():
    values = np.repeat(lognormal(k=1), 3, axis=0)
    means = trial_means(values, X, samples=4000)
    correlation = np.corrcoef(means.resampled.T)
    # Each of the three lies within 4.5 / sqrt(4000) but for a chance of 2e-5.
    assert np.abs(correlation[np.triu_indices(3, 1)]).max() < 4.5 / np.sqrt(4000)


def test_the_seed_decides_and_a_new_d_does_not():
    values = lognormal(k=4)
    x = np.array([32.0, *X])
    more, less = trial_means(values, x, seed=5), trial_means(values[1:], X, seed=5)
    np.testing.assert_array_equal(more.resampled[:, 1:], less.resampled)
    assert not np.array_equal(trial_means(values, x, seed=6).resampled, more.resampled)


def test_few_trials_that_agree_do_not_dominate():
    values = lognormal(trials=3, k=6)
    values[2] = values[2].mean() * np.array([1.0, 1.0 + 1e-9, 1.0 - 1e-9])
    means = trial_means(values, 2.0 ** np.arange(5, 11))
    assert means.error[2] < 1e-8
    assert means.log_error[2] > 0.2 * np.median(means.log_error)


def test_no_scatter_at_all_gives_equal_weights():
    means = trial_means(np.repeat(X[:, None] ** -1.0, 4, axis=1), X)
    np.testing.assert_allclose(means.log_error, means.log_error[0])
    assert means.log_error[0] > 0.0


def test_interval_of_normal_replicates():
    means = trial_means(lognormal(trials=1000), X)
    low, high = means.interval(np.random.default_rng(0).standard_normal(200_000), 0.95)
    assert low == pytest.approx(-1.96, abs=0.02)
    assert high == pytest.approx(1.96, abs=0.02)


def test_interval_widens_with_few_trials():
    few, many = trial_means(lognormal(trials=3), X), trial_means(lognormal(trials=300), X)
    replicates = np.random.default_rng(0).standard_normal(20_000)
    assert few.interval(replicates, 0.95)[1] > 1.3 * many.interval(replicates, 0.95)[1]


def test_interval_takes_infinity_and_refuses_nan():
    means = trial_means(lognormal(trials=100), X)
    replicates = np.r_[np.arange(900.0), np.full(100, np.inf)]
    assert means.interval(replicates, 0.95)[1] == np.inf
    assert np.isnan(means.interval(np.r_[replicates, np.nan], 0.95)).all()


def test_values_without_trials():
    means = single_values(np.array([0.1, np.nan, 0.0]), X)
    assert means.x.tolist() == [64.0]
    assert means.resampled.shape == (0, 1)
    assert np.isnan(means.interval(means.resampled[:, 0], 0.95)).all()
