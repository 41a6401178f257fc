"""What a spec from a stranger may name as its cluster, and every known way around it."""

import distributed
import pytest

from scalestudy.errors import SpecError
from scalestudy.execution.trust import cluster_class, refuse_foreign_scheduler

SPEC_CLUSTER = "distributed.SpecCluster"
NANNY = {"cls": "distributed.Nanny", "options": {"nthreads": 1, "memory_limit": "2GB"}}

HARMLESS = [
    ("distributed.LocalCluster", {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}),
    (SPEC_CLUSTER, {"scheduler": {"cls": "distributed.Scheduler"}, "worker": NANNY}),
    (SPEC_CLUSTER, {"workers": {"any name at all": NANNY}}),
    (SPEC_CLUSTER, {"workers": {"host": NANNY}}),
    ("distributed.deploy.local.LocalCluster", {"host": "127.0.0.1", "memory_limit": None}),
    ("distributed.LocalCluster", {"host": "tcp://127.0.0.1:0", "dashboard_address": "localhost:8787"}),
    ("distributed.LocalCluster", {"host": "localhost", "protocol": "tls://", "interface": None}),
    ("distributed.LocalCluster", {"interface": "lo", "worker_dashboard_address": "127.0.0.1:0"}),
    ("dask_jobqueue.SLURMCluster", {"scheduler_options": {"dashboard_address": ":12435", "port": 8786}}),
]


@pytest.mark.parametrize(("path", "arguments"), HARMLESS)
def test_harmless(path, arguments):
    assert issubclass(cluster_class(path, arguments), distributed.deploy.Cluster)


LOCAL = "distributed.LocalCluster"
HOSTILE = [
    ("os.system", {}),
    ("distributed_evil.Cluster", {}),
    (".distributed.LocalCluster", {}),
    ("distributed", {}),
    ("distributed.nanny.os", {}),
    ("distributed.preloading.Preload", {}),
    (LOCAL, {"preload": "http://example.org/x.py"}),
    (LOCAL, {"preload": None}),
    (LOCAL, {"env": {"PYTHONSTARTUP": "x"}}),
    (LOCAL, {"worker_class": "os.system"}),
    (LOCAL, {"security": {"x": 1}}),
    (LOCAL, {"name": "x\nrm y"}),
    (LOCAL, {"name": "x y"}),
    (LOCAL, {"name": "$(x)"}),
    (LOCAL, {"name": "`x`"}),
    (LOCAL, {"name": "x;y"}),
    (LOCAL, {"interface": "--preload=http://example.org/x.py"}),
    (LOCAL, {"interface": "x\u2028y"}),
    (LOCAL, {"options": {"preload": "x"}}),
    (LOCAL, {"options": [{"preload": "x"}]}),
    (LOCAL, {"options": [[{"preload": "x"}]]}),
    (LOCAL, {"worker_options": {"options": {"options": {"python": "x"}}}}),
    (LOCAL, {"options": ["harmless", "not harmless; x"]}),
    (SPEC_CLUSTER, {"worker": {"cls": "os.system", "options": {}}}),
    (SPEC_CLUSTER, {"worker": {"cls": ["os.system"]}}),
    (SPEC_CLUSTER, {"worker": {"cls": {"name": "os.system"}}}),
    (SPEC_CLUSTER, {"worker": {"cls": "distributed.utils.import_file"}}),
    (SPEC_CLUSTER, {"worker": {"cls": "distributed.preloading.Preload", "options": {"name": "x"}}}),
    (SPEC_CLUSTER, {"worker": {"cls": "distributed.Nanny", "options": {"preload": "x"}}}),
    (SPEC_CLUSTER, {"workers": {"a": {"cls": "os.system"}}}),
    (SPEC_CLUSTER, {"workers": {"a": {"workers": {"b": {"cls": "os.system"}}}}}),
    (SPEC_CLUSTER, {"workers": {"preload": "x"}}),
    (SPEC_CLUSTER, {"workers": {"a": [{"cls": "os.system"}]}}),
    (SPEC_CLUSTER, {"worker": {"workers": {"preload": ["x"]}}}),
    (SPEC_CLUSTER, {"scheduler": {"cls": "distributed.Scheduler", "options": {"preload": "x"}}}),
    ("dask_jobqueue.SLURMCluster", {"job_script_prologue": ["x"]}),
    ("dask_jobqueue.SLURMCluster", {"python": "x"}),
    ("dask_jobqueue.SLURMCluster", {"walltime": "1:00\n#SBATCH --wrap=x"}),
]


SCHEDULER = "distributed.Scheduler"
OPEN = [
    (LOCAL, {"n_workers": 1, "host": "0.0.0.0", "dashboard_address": "0.0.0.0:0"}),
    (LOCAL, {"host": ""}),
    (LOCAL, {"host": []}),
    (LOCAL, {"host": 0}),
    (LOCAL, {"host": ["127.0.0.1", "0.0.0.0"]}),
    (LOCAL, {"host": "tcp://0.0.0.0"}),
    (LOCAL, {"host": "::"}),
    (LOCAL, {"host": "inproc://127.0.0.1"}),
    (LOCAL, {"host": "127.0.0.1.example.org"}),
    (LOCAL, {"host": "::1:8"}),
    (LOCAL, {"ip": "192.0.2.7"}),
    (LOCAL, {"interface": "eth0"}),
    (LOCAL, {"protocol": "tcp://0.0.0.0"}),
    (LOCAL, {"protocol": "inproc://"}),
    (LOCAL, {"dashboard_address": "0.0.0.0:0"}),
    (LOCAL, {"dashboard_address": ":0"}),
    (LOCAL, {"dashboard_address": ""}),
    (LOCAL, {"dashboard_address": 8787}),
    (LOCAL, {"dashboard_address": "127.0.0.1:0,0.0.0.0:0"}),
    (LOCAL, {"worker_dashboard_address": "0.0.0.0:0"}),
    (LOCAL, {"options": [{"host": "0.0.0.0"}]}),
    ("dask_jobqueue.core.SpecCluster", {"scheduler": {"cls": SCHEDULER, "options": {"host": "0.0.0.0"}}}),
    (SPEC_CLUSTER, {"worker": {"cls": "distributed.Worker", "options": {"dashboard_address": ":0"}}}),
    (SPEC_CLUSTER, {"workers": {"a": {"cls": "distributed.Worker", "options": {"interface": "eth0"}}}}),
    (SPEC_CLUSTER, {"workers": {"a": {"workers": {"b": NANNY}, "host": "0.0.0.0"}}}),
    (SPEC_CLUSTER, {"scheduler": {"cls": "distributed.deploy.subprocess.SubprocessScheduler"}}),
    ("dask_jobqueue.SLURMCluster", {"interface": "ib0"}),
    ("dask_jobqueue.SLURMCluster", {"scheduler_options": {"host": "0.0.0.0"}}),
    ("dask_jobqueue.SLURMCluster", {"scheduler_options": {"dashboard_address": "0.0.0.0:1"}}),
]


@pytest.mark.parametrize(("path", "arguments"), OPEN)
def test_a_cluster_that_other_machines_could_reach(path, arguments):
    with pytest.raises(SpecError, match=r"^cluster\..*--trust-cluster"):
        cluster_class(path, arguments)
    assert cluster_class(path, arguments, trust=True)


@pytest.mark.parametrize(("path", "arguments"), HOSTILE)
def test_hostile(path, arguments):
    with pytest.raises(SpecError, match=r"^cluster\."):
        cluster_class(path, arguments)


def test_whoever_trusts_it_gets_what_it_asks_for():
    assert cluster_class(LOCAL, {"preload": "x"}, trust=True) is distributed.LocalCluster
    with pytest.raises(SpecError, match="is not a Dask cluster class"):
        cluster_class("os.system", {}, trust=True)


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:8786", "tcp://localhost:8786", "tls://127.0.0.1:1", "!"]
)
def test_a_scheduler_of_this_machine(address):
    refuse_foreign_scheduler(address)


@pytest.mark.parametrize("address", ["tcp://192.0.2.7:8786", "tls://192.0.2.7:8786", "192.0.2.7:8786"])
def test_a_scheduler_of_another_machine_could_run_code_here(address):
    with pytest.raises(SpecError, match="pass --scheduler with that address"):
        refuse_foreign_scheduler(address)
    refuse_foreign_scheduler(address, trust=True)
