"""A study in an object store, on a real S3 server process: run, kill, resume, grow, look, verify, report."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import fsspec
import pytest
import xarray as xr

pytestmark = [pytest.mark.distributed, pytest.mark.slow]

ACCESS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    """Start moto's server on a free port and make a bucket; the URL of the bucket."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    endpoint = f"http://127.0.0.1:{port}"
    log = (tmp_path_factory.mktemp("s3") / "log").open("w+")
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**ACCESS, "AWS_ENDPOINT_URL": endpoint}.items():
            patch.setenv(name, value)
        try:
            end = time.monotonic() + 60
            while True:
                log.seek(0)
                assert server.poll() is None, f"pip install 'scalestudy[dev]' first: {log.read()}"
                try:
                    urllib.request.urlopen(endpoint, timeout=5).close()
                    break
                except OSError:
                    assert time.monotonic() < end
                    time.sleep(0.1)
            fsspec.filesystem("s3").mkdir("studies")
            yield "s3://studies"
        finally:
            server.terminate()
            server.wait()


def done_blocks(url):
    fs = fsspec.filesystem("s3")
    fs.invalidate_cache()
    return len([key for key in fs.glob(f"{url}/done/c.*") if key])


def test_run_kill_resume_grow_status_verify_report(study, same, bucket, kill, tmp_path):
    grid = {"d": [96, 128], "beta": [0.5, 1.0], "gamma": [1.0], "psi": [1.0]}
    url = f"{bucket}/study.zarr"
    made, local = (
        study(grid=grid, trials=48, trials_per_block=4),
        study(grid=grid, trials=48, trials_per_block=4),
    )
    made.write(store=url)
    made.store = url
    made.environment |= {name: value for name, value in os.environ.items() if name.startswith("AWS_")}

    process = made.start("--workers", 2)
    end = time.monotonic() + 120
    while done_blocks(url) < 12:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    kill(process)
    held = done_blocks(url)
    assert held < 48

    status = made.call("status")
    assert status.returncode == 0, status.stderr
    assert f"{4 * held} of 192 trials of its spec done" in status.stdout
    # The lock names a process that is gone, and is taken over.
    resumed = made.run("sweep", "--workers", 2)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stderr == ""
    assert f"{4 * held} trials in the store already" in resumed.stdout
    assert local.call("sweep", "--serial").returncode == 0
    same(url, local.store)

    grown = {**grid, "d": [80, 96, 128]}
    made.write(grid=grown)
    local.write(grid=grown)
    result = made.run("sweep", "--workers", 2)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert local.call("sweep", "--serial").returncode == 0
    same(url, local.store)
    with xr.open_zarr(url) as dataset:
        assert dataset.sizes["d"] == 3

    assert made.call("sweep", "--serial").stdout.startswith("Nothing to do")
    assert "Complete: 288 trials" in made.call("status").stdout
    verified = made.call("verify", "--sample", "3")
    assert verified.returncode == 0, verified.stdout
    assert "Recomputed 3 trials: 3 identical" in verified.stdout
    report = made.call("report", "-o", tmp_path / "report")
    assert report.returncode == 0, report.stderr
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000


def test_damage_is_found_and_mended(study, same, bucket):
    url = f"{bucket}/damaged.zarr"
    made, local = study(), study()
    made.write(store=url)
    made.store = url
    assert made.call("sweep", "--serial").returncode == 0
    fs = fsspec.filesystem("s3")
    key = f"{url}/squared_singular_values/c.0.0.0.0.0.0.0"
    data = bytearray(fs.cat_file(key))
    data[len(data) // 2] ^= 4
    fs.pipe_file(key, bytes(data))
    fs.rm_file(f"{url}/row_normalizer/c.1.1.0.0.0.0")
    found = made.call("verify")
    assert found.returncode == 1
    assert found.stdout.count("Bad: ") == 2
    assert made.call("verify", "--repair").returncode == 0
    assert local.call("sweep", "--serial").returncode == 0
    same(url, local.store)


def test_a_second_run_is_refused_while_the_first_lives(study, bucket):
    url = f"{bucket}/locked.zarr"
    made = study(trials=2000, trials_per_block=2)
    made.write(store=url)
    made.environment |= {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    process = made.start("--workers", 1)
    while done_blocks(url) < 1:
        assert process.poll() is None
        time.sleep(0.05)
    second = made.call("sweep", "--serial")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert second.returncode == 2
    assert f"process {process.pid} on host {os.uname().nodename}" in second.stderr
    assert not fsspec.filesystem("s3").exists(f"{url}.lock")


def test_a_bucket_that_is_not_there(study, bucket):
    made = study()
    made.write(store="s3://no-such-bucket/study.zarr")
    result = made.call("sweep", "--serial")
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert "no-such-bucket" in line
