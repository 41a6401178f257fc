"""The trial kernel: one draw, the requested rungs of the ladder, their squared singular values.

A pure function of its request and the number of the trial (given BLAS on one thread). It holds three
(ell, ell) matrices, the scores, the exponentials or the noise, and the matrix being solved, beside the
solver's own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalestudy import spectra
from scalestudy.ensembles import (
    MODELS,
    Sizes,
    check_tokens,
    draw_flops,
    draw_noise,
    draw_scores,
    inplace,
    streams,
)
from scalestudy.ensembles.polynomial import noise_variance
from scalestudy.execution.workspace import Workspace
from scalestudy.spectra import Solver

Matrix = NDArray[np.floating]

LEAST_SHARED = 0.1
"""Mean of D_i^2 above which M2 is found from M3, at a loss of at most a digit."""


# What tokens from a file are called in a request, until the worker has read them from the store.
TOKEN_FILE = "file"


@dataclass(frozen=True, eq=False)
class TrialRequest:
    """Everything a trial depends on but its number.

    Parameters
    ----------
    seed : int
        Seed of the study.
    sizes : Sizes
        d, ell and d_qk.
    beta : float
        Inverse temperature, positive.
    tokens : str or (ell, d) ndarray
        Name of the token ensemble, or the tokens themselves, whose rows are scaled to unit norm.
    models : tuple of str
        Names of `MODELS`, in ladder order.
    degree : int, optional
        Degree of Q_n; needed for ``Y_Q``.
    theta1_Q, theta2_Q : float, optional
        Statistics of Q_n; needed for ``Y_Q_lin``.
    dtype : {"float64", "float32"}
        Precision of the matrices and of the solver. The numbers drawn are the same.
    solver : str
        Name of a solver, or ``auto``.

    Raises
    ------
    ValueError
        If a value is not allowed, or a model lacks what it needs.
    """

    seed: int
    sizes: Sizes
    beta: float
    tokens: str | NDArray[np.float64] = "orthonormal"
    models: tuple[str, ...] = MODELS
    degree: int | None = None
    theta1_Q: float | None = None  # noqa: N815
    theta2_Q: float | None = None  # noqa: N815
    dtype: str = "float64"
    solver: str = "auto"

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise ValueError(f"Invalid beta = {self.beta}. Must be positive.")
        if not self.models or self.models != tuple(name for name in MODELS if name in self.models):
            raise ValueError(f"Invalid models {self.models}. Must be some of {MODELS}, in that order.")
        if "Y_Q" in self.models and self.degree is None:
            raise ValueError("Invalid degree None. Must be given for the model Y_Q.")
        if "Y_Q_lin" in self.models and (self.theta1_Q is None or self.theta2_Q is None):
            raise ValueError("Invalid theta1_Q or theta2_Q None. Must be given for the model Y_Q_lin.")
        if isinstance(self.tokens, str) and self.tokens != TOKEN_FILE:
            reason = check_tokens(self.tokens, self.sizes.ell / self.sizes.d)
            if reason is not None:
                raise ValueError(f"Invalid tokens: {reason}.")
        if self.solver != "auto" and self.solver not in spectra.SOLVERS:
            raise ValueError(f"Invalid solver {self.solver!r}. Must be auto or {', '.join(spectra.SOLVERS)}.")
        if self.dtype not in ("float64", "float32"):
            raise ValueError(f"Invalid dtype {self.dtype!r}. Must be 'float64' or 'float32'.")


@dataclass(frozen=True, eq=False)
class TrialResult:
    """What a trial found.

    Attributes
    ----------
    squared_singular_values : (len(models), ell) ndarray of float64
        Descending, in the order of the request's models.
    row_normalizer : (ell,) ndarray of float64
        D_i = Z_i / (ell e^{beta^2/2}).
    seconds : float
        Wall time.
    solver : str
        Name of the solver that ran.
    """

    squared_singular_values: NDArray[np.float64]
    row_normalizer: NDArray[np.float64]
    seconds: float
    solver: str


def run_trial(
    request: TrialRequest,
    trial: int,
    *,
    solver: Solver | None = None,
    workspace: Workspace | None = None,
) -> TrialResult:
    """Run one trial.

    Parameters
    ----------
    request : TrialRequest
        What is asked.
    trial : int
        Number of the trial, non-negative; with the request's seed and sizes it fixes the draw.
    solver : Solver, optional
        Used instead of the one the request names.
    workspace : Workspace, optional
        Memory to reuse; give the same one to consecutive trials.

    Returns
    -------
    TrialResult

    Raises
    ------
    ValueError
        If the tokens do not exist at these sizes, or beta is so large that a matrix overflows.
    """
    started = time.perf_counter()
    if workspace is None:
        workspace = Workspace()
    if solver is None:
        solver = workspace.solver(request.solver, request.sizes.ell, request.dtype)
    ell, dtype = request.sizes.ell, request.dtype
    rngs = streams(request.seed, request.sizes, trial)
    S, E, B = (workspace.matrix(name, ell, dtype) for name in ("scores", "second", "third"))
    draw_scores(rngs, request.sizes, request.tokens, out=S, scratch=(E, B))
    exponentials = inplace.exponentials(S, request.beta, out=E)
    spectra_found = dict(_exponential_rungs(request, solver, exponentials, B))
    spectra_found.update(_gaussian_rungs(request, solver, rngs.W, S, E, B))
    return TrialResult(
        squared_singular_values=np.stack([spectra_found[name] for name in request.models]),
        row_normalizer=exponentials.row_normalizer(request.beta),
        seconds=time.perf_counter() - started,
        solver=solver.name,
    )


def _exponential_rungs(
    request: TrialRequest, solver: Solver, exponentials: inplace.Exponentials, B: Matrix
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """M0 ... M3. M3 is built last, in place of the exponentials."""
    wanted = set(request.models)
    if wanted & {"sqrt_d_A", "sqrt_d_A_perp"}:
        inplace.softmax_bulk(exponentials, out=B)
        yield from _pair(solver, B, "sqrt_d_A", "sqrt_d_A_perp", wanted)
    # M2 M2^T has a norm of at least ell mean(D^2), M3 M3^T one of about ell: where the first is far smaller,
    # M2 found through M3 would be rounding errors of M3.
    together = np.mean(exponentials.row_normalizer(request.beta) ** 2) > LEAST_SHARED
    if "Y" in wanted and not (together and "Y_f" in wanted):
        inplace.exponential(exponentials, request.beta, out=B)
        yield "Y", solver.squares(B)
        wanted.remove("Y")
    if wanted & {"Y", "Y_f"}:
        M3 = inplace.centred_exponential(exponentials, request.beta)
        yield from _pair(solver, M3, "Y", "Y_f", wanted)


def _pair(
    solver: Solver, bulk: Matrix, spiked: str, plain: str, wanted: set[str]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Spectra of ``bulk + 1 1^T/sqrt(ell)`` and of ``bulk``, or of the one that is wanted."""
    if spiked not in wanted:
        yield plain, solver.squares(bulk)
    elif plain not in wanted:
        bulk += 1.0 / np.sqrt(len(bulk))
        yield spiked, solver.squares(bulk)
    else:
        without, with_spike = solver.squares_with_spike(bulk)
        yield spiked, with_spike
        yield plain, without


def _gaussian_rungs(
    request: TrialRequest, solver: Solver, rng: np.random.Generator, S: Matrix, W: Matrix, B: Matrix
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """M4, M5, M6. M6 is built last, in place of its noise."""
    if "Y_Q" in request.models:
        assert request.degree is not None
        inplace.polynomial(S, request.beta, request.degree, out=B)
        yield "Y_Q", solver.squares(B)
    if "Y_Q_lin" in request.models or "Y_f_lin" in request.models:
        draw_noise(rng, out=W)
    if "Y_Q_lin" in request.models:
        assert request.theta1_Q is not None
        assert request.theta2_Q is not None
        inplace.linear_model(S, W, request.theta1_Q - request.theta2_Q, request.theta2_Q, out=B)
        yield "Y_Q_lin", solver.squares(B)
    if "Y_f_lin" in request.models:
        inplace.linear_model(S, W, noise_variance(request.beta), request.beta**2, out=W)
        yield "Y_f_lin", solver.squares(W)


def trial_flops(request: TrialRequest) -> float:
    """Operations of one trial, as matrix-multiplication flops that take as long."""
    return draw_flops(request.sizes, request.models, request.tokens) + spectra.solve_flops(
        request.sizes.ell, request.models, request.solver, request.dtype
    )


def peak_bytes(request: TrialRequest) -> int:
    """Memory one trial holds at its peak, beside the interpreter and its libraries."""
    return spectra.peak_bytes(request.sizes, request.models, request.tokens, request.dtype, request.solver)
