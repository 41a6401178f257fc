"""What a worker takes at its peak, as Linux counts it, is what the cost model says."""

from pathlib import Path

import distributed
import numpy as np
import pytest

from scalestudy.study import CostModel, load_spec

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path("/proc/self/status").exists(), reason="reads the peak memory from Linux's /proc"
    ),
]


def peak():
    line = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    return 1024 * int(line.split()[1])


@pytest.mark.parametrize(
    "changes",
    [
        {"grid": {"d": [16], "beta": [1.0]}, "trials": 300},
        {"grid": {"d": [1000], "beta": [1.0]}},
        {"grid": {"d": [1500], "beta": [1.0]}, "models": ["sqrt_d_A_perp"]},
        {"grid": {"d": [1500], "beta": [1.0], "psi": [0.1]}, "tokens": "parseval"},
        {"grid": {"d": [2000], "beta": [1.0]}, "dtype": "float32"},
        {"grid": {"d": [40_000], "beta": [1.0], "gamma": [0.0125], "psi": [0.001]}, "tokens": "spherical"},
        {
            "grid": {"d": [40_000], "beta": [1.0], "gamma": [0.0125], "psi": [0.001]},
            "tokens": {"file": "X.npy"},
        },
        {"grid": {"d": [10_000], "beta": [1.0], "gamma": [0.05], "psi": [0.05]}, "tokens": {"file": "X.npy"}},
    ],
    ids=str,
)
def test_the_memory_of_a_worker_is_predicted(study, dask_processes, changes):
    made = study(**{"trials": 2, "trials_per_block": 1, **changes})
    if isinstance(made.spec.get("tokens"), dict):
        (d,) = made.spec["grid"]["d"]
        made.write(tokens={"file": str(made.folder / "X.npy")})
        np.save(made.folder / "X.npy", np.random.default_rng(0).standard_normal((500, d)))
    cluster = dask_processes(workers=1)
    assert made.run("sweep", "--scheduler", cluster.address).returncode == 0
    with distributed.Client(cluster.address) as client:
        (used,) = client.run(peak).values()
    assert CostModel(load_spec(made.path)).worker_bytes() == pytest.approx(used, rel=0.2)
