"""Clusters that are there already, TLS, cluster classes, and workers that cannot do the work."""

import datetime
import ipaddress
import os

import dask
import psutil
import pytest
import yaml

from scalestudy.execution.cluster import connect
from scalestudy.execution.trust import cluster_class
from scalestudy.study import parse_source, parse_spec

pytestmark = pytest.mark.distributed


def test_scheduler_address_and_scheduler_file(study, same, dask_processes):
    cluster = dask_processes(workers=2)
    by_address, by_file, serial = study(), study(cluster={"scheduler_file": str(cluster.file)}), study()
    result = by_address.call("sweep", "--scheduler", cluster.address)
    assert result.returncode == 0, result.stderr
    assert cluster.address in result.stdout
    assert by_file.call().returncode == 0
    assert serial.call("sweep", "--serial").returncode == 0
    same(by_address.store, serial.store)
    same(by_file.store, serial.store)


def test_no_scheduler_there_is_said_in_one_line(study):
    with dask.config.set({"scalestudy.patience.to-connect": 2}):
        result = study().call("sweep", "--scheduler", "tcp://127.0.0.1:9")
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: No Dask scheduler answers at tcp://127.0.0.1:9 within 2 s")


@pytest.mark.parametrize(
    "cluster",
    [
        {
            "class": "distributed.LocalCluster",
            "n_workers": 2,
            "threads_per_worker": 1,
            "dashboard_address": "127.0.0.1:0",
        },
        {
            "class": "distributed.SpecCluster",
            "scheduler": {
                "cls": "distributed.Scheduler",
                "options": {"dashboard": False, "host": "127.0.0.1"},
            },
            "workers": 1,
            "worker": {"cls": "distributed.Nanny", "options": {"nthreads": 1}},
        },
    ],
    ids=["LocalCluster", "SpecCluster"],
)
def test_cluster_classes_by_dotted_path(study, same, cluster):
    made, serial = study(cluster=cluster), study()
    result = made.call()
    assert result.returncode == 0, result.stderr
    assert serial.call("sweep", "--serial").returncode == 0
    same(made.store, serial.store)


def listening_beyond_loopback():
    """The addresses beyond loopback on which this process and its children accept connections."""
    me = psutil.Process()
    found = [c for p in (me, *me.children(recursive=True)) for c in p.net_connections("tcp")]
    return {c.laddr for c in found if c.status == "LISTEN" and c.laddr.ip not in ("127.0.0.1", "::1")}


WORKER = {"cls": "distributed.Worker", "options": {"nthreads": 1}}


@pytest.mark.parametrize(
    "cluster",
    [
        {},
        {"class": "distributed.LocalCluster", "n_workers": 1},
        {"class": "distributed.LocalCluster", "n_workers": 1, "processes": 0, "protocol": None},
        {"class": "distributed.LocalCluster", "n_workers": 1, "dashboard_address": None},
        {"class": "distributed.LocalCluster", "n_workers": 1, "interface": "lo"},
        {"class": "distributed.SpecCluster", "workers": {"a": WORKER}},
        {
            "class": "distributed.SpecCluster",
            "scheduler": {"cls": "distributed.Scheduler", "options": {"port": 0}},
            "workers": 1,
            "worker": {"cls": "distributed.Nanny", "options": {"nthreads": 1, "port": 0}},
        },
    ],
    ids=["default", "LocalCluster", "threads", "no dashboard", "interface", "SpecCluster", "nannies"],
)
def test_what_runs_here_is_not_reached_from_elsewhere(cluster):
    source = {"seed": 1, "grid": {"d": [16], "beta": [1.0]}, "trials": 1, "cluster": cluster}
    spec = parse_spec(parse_source(yaml.safe_dump(source), "spec.yaml"))
    before = listening_beyond_loopback()
    with connect(spec.cluster) as client:
        client.wait_for_workers(1, timeout=60)
        assert not listening_beyond_loopback() - before


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        ({"class": "distributed.LocalCluster", "preload": "evil.py"}, "preload: this argument may run code"),
        ({"class": "distributed.SpecCluster", "worker": {"cls": "os.system"}}, "cluster.cls: 'os.system'"),
        ({"class": "dask_jobqueue.SLURMCluster", "queue": "x\ntouch y"}, "may run code: it has characters"),
        ({"class": "distributed.LocalCluster", "host": "0.0.0.0"}, "pass --trust-cluster"),
        ("os.system", "not from a known Dask deployment package"),
        ("subprocess.Popen", "--trust-cluster"),
        ("distributed.Client", "is not a Dask cluster class"),
        ("distributed.NoSuchCluster", "cannot be imported"),
    ],
)
def test_a_class_that_is_not_to_be_trusted_is_refused(study, cluster, words):
    made = study(cluster={"class": cluster} if isinstance(cluster, str) else cluster)
    result = made.call()
    assert result.returncode == 2
    assert words in result.stderr
    assert not made.store.exists()


def test_a_job_script_of_dask_jobqueue_has_the_queue():
    spec = parse_spec(
        parse_source(
            """
            seed: 1
            grid: {d: [16], beta: [1.0]}
            trials: 1
            cluster: {class: dask_jobqueue.SLURMCluster, cores: 1, memory: 2GB, queue: main, workers: 3}
            """,
            "spec.yaml",
        )
    )
    kind = cluster_class(spec.cluster.class_, spec.cluster.arguments)
    with kind(**spec.cluster.arguments) as cluster:
        script = cluster.job_script()
    assert "#SBATCH -p main" in script
    assert "#SBATCH --mem=2G" in script
    assert "dask worker" in script or "dask_worker" in script


def certificate(folder):
    """Make a certificate for 127.0.0.1 that signs itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    cert, private = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return str(cert), str(private)


def test_tls(study, same, dask_processes, tmp_path):
    cert, key = certificate(tmp_path)
    settings = {"distributed.comm.tls.ca-file": cert}
    for role in ("client", "scheduler", "worker"):
        settings |= {f"distributed.comm.tls.{role}.cert": cert, f"distributed.comm.tls.{role}.key": key}
    names = {name: name.upper().replace(".", "__").replace("-", "_") for name in settings}
    env = {f"DASK_{names[name]}": value for name, value in settings.items()}
    cluster = dask_processes(options=["--protocol", "tls"], env=env)
    assert cluster.address.startswith("tls://")
    made, serial = study(), study()
    refused = made.call("sweep", "--scheduler", cluster.address)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"Error: No Dask scheduler answers at {cluster.address} within")
    tls = {"distributed.comm.tls.ca-file": cert}
    tls |= {f"distributed.comm.tls.client.{name}": path for name, path in (("cert", cert), ("key", key))}
    with dask.config.set(tls):
        result = made.call("sweep", "--scheduler", cluster.address)
    assert result.returncode == 0, result.stderr
    assert serial.call("sweep", "--serial").returncode == 0
    same(made.store, serial.store)


def test_a_worker_that_sees_another_file_system_is_named(study, dask_processes):
    # A root of its own is what a worker on another host has: here, a path that it cannot create.
    cluster = dask_processes()
    made = study()
    # Also if the worker comes only later, as those of a batch system do.
    made.write(store="memory://elsewhere/store.zarr")
    result = made.call("sweep", "--scheduler", cluster.address)
    assert result.returncode == 1
    assert f"worker on {os.uname().nodename}" in result.stderr
    assert "cannot be read here" in result.stderr
