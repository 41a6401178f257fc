"""Every rule about fields together: broken, and just not broken."""

import pytest

from scalestudy.errors import SpecError
from scalestudy.study import override, parse_source, parse_spec

BASE = "seed: 1\ngrid:\n  d: [16, 32]\n  beta: [1.0]\ntrials: 4\nbulk: {drop: 1}\n"
GAUSSIAN = ["tokens=gaussian"]


def spec_of(*options):
    return parse_spec(override(parse_source(BASE, "f.yaml"), list(options)))


MANY = ",".join(f"{1 + i / 1e4}" for i in range(400))

BROKEN = [
    (["grid.psi=0.03"], "grid.psi: psi = 0.03 gives head width d_qk = round(psi d) = 0 at d = 16; needs psi"),
    (["grid.gamma=0.03"], "grid.gamma: gamma = 0.03 gives ell = round(gamma d) = 0 tokens at d = 16"),
    (
        ["bulk.drop=16"],
        "bulk.drop: 16 leaves no bulk at d = 16, gamma = 1.0, where ell = 16; needs drop < ell",
    ),
    (
        [*GAUSSIAN, "grid.gamma=1e6"],
        "grid.gamma: 1000000.0 at d = 32 gives a size of 3.2e+07; at most 1000000",
    ),
    ([*GAUSSIAN, "grid.gamma=1e308"], "grid.gamma: 1e+308 at d = 32 gives a size of inf; at most 1000000"),
    (["grid.psi=1.7e308"], "grid.psi: 1.7e+308 at d = 32 gives a size of inf; at most 1000000"),
    (["grid.gamma=2"], "grid.gamma: orthonormal tokens need gamma <= 1 (ell <= d), got gamma = 2."),
    (["tokens=identity", "grid.gamma=0.5"], "grid.gamma: identity tokens need gamma = 1"),
    (["tokens=parseval", "grid.gamma=0.5"], "grid.gamma: parseval tokens need gamma >= 1"),
    (["tokens={file: x.npy}"], "grid: a token file fixes d and gamma = ell/d; give one value for each."),
    (["grid.d=8,15,16"], "grid.d: 8, 15: below d = 16 the degree log d / log log d of Y_Q and Y_Q_lin is"),
    (["grid.d=8", "models=Y,Y_Q_lin"], "grid.d: 8: below d = 16 the degree log d / log log d of Y_Q_lin is"),
    (
        ["grid.beta=26"],
        "grid.beta: 26.0 is not allowed: e^(beta^2) must be representable; allowed with dtype",
    ),
    (["grid.beta=10", "dtype=float32"], "allowed with dtype float32: 1e-06 to 9.0."),
    (["grid.beta=1e-7"], "grid.beta: 1e-07 is not allowed"),
    (["trials={16: 1}"], "trials: no number for d = 32; a mapping must name every d of the grid."),
    (
        ["cluster={scheduler: a, class: distributed.LocalCluster}"],
        "cluster: scheduler and class exclude each other; keep one.",
    ),
    (["cluster={cores: 4}"], "cluster: unknown key cores: arguments go with class; allowed: workers,"),
    (
        [f"grid.beta={MANY}", f"grid.psi={MANY}"],
        "grid: has 320,000 points; at most 100,000.",
    ),
    (["trials=10000000", "grid.beta=1,2,3,4,5,6"], "trials: asks for 120,000,000 trials in all; at most"),
    (["trials=10000000", "trials_per_block=1"], "trials_per_block: 1 gives 20,000,000 blocks; at most"),
]


@pytest.mark.parametrize(("options", "words"), BROKEN, ids=lambda value: str(value)[:30])
def test_a_broken_rule_is_said_with_its_place(options, words):
    with pytest.raises(SpecError) as caught:
        spec_of(*options)
    assert words in str(caught.value)
    assert str(caught.value).startswith(("--set ", "f.yaml:"))


@pytest.mark.parametrize(
    "options",
    [
        ["grid.psi=0.04"],
        ["grid.gamma=0.13"],
        ["bulk.drop=15"],
        [*GAUSSIAN, "grid.gamma=4"],
        ["tokens=identity"],
        ["tokens=parseval", "grid.gamma=1,2"],
        ["tokens={file: x.npy}", "grid.d=16"],
        ["grid.d=8,15,16", "models=[Y]"],
        ["grid.beta=25"],
        ["grid.beta=9,1e-6", "dtype=float32"],
        ["trials={16: 1, 32: 1, 64: 5}"],
        ["cluster={class: distributed.LocalCluster, n_workers: 1}"],
        ["trials=10000000", "trials_per_block=2"],
    ],
    ids=str,
)
def test_what_just_keeps_the_rules_is_accepted(options):
    spec_of(*options)


def test_several_broken_rules_are_reported_together():
    with pytest.raises(SpecError) as caught:
        spec_of("grid.gamma=2", "grid.beta=30", "grid.psi=0.01")
    assert len(str(caught.value).splitlines()) == 3
