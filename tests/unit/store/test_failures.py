"""Records of failed blocks."""

import json

import pytest

from scalestudy.store import Failure, clear, failures, record

ONE = Failure(
    "d=16, trials 0-1", "0.0.0.0.0", "(1, 16, 8, 16, 0)", "ValueError: x", "Traceback", "python", "now"
)


def test_a_failure_is_kept_replaced_and_cleared(anywhere):
    anywhere.prepare()
    assert failures(anywhere.location) == []
    other = Failure(**{**ONE.__dict__, "slot": "0.0.0.0.1"})
    for failure in (other, ONE, ONE):
        record(anywhere.location, failure)
    assert failures(anywhere.location) == [ONE, other]
    clear(anywhere.location, {ONE.slot, "9.9.9.9.9"})
    assert failures(anywhere.location) == [other]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"attributes": {"block": 3}}', b'{"attributes": null}']
)
def test_a_damaged_record_is_passed_over(study, content):
    study.prepare()
    record(study.location, ONE)
    study.location.replace("failures/0.0.0.0.7/zarr.json", content)
    assert failures(study.location) == [ONE]


def test_a_record_of_another_version_is_read(study):
    study.prepare()
    record(study.location, ONE)
    path = f"failures/{ONE.slot}/zarr.json"
    document = json.loads(study.location.read(path))
    document["attributes"]["more"] = 1
    study.location.replace(path, json.dumps(document).encode())
    assert failures(study.location) == [ONE]
