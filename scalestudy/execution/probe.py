"""Asking every worker once, before any work: has it the same package, and do we share the store."""

from __future__ import annotations

import os
import socket
import time
import uuid
from dataclasses import dataclass

import distributed

from scalestudy.errors import ClusterError
from scalestudy.execution.block import installed_version
from scalestudy.store import Location

_FOLDER = "probe"
# Together more than a worker on a busy machine needs to start anew.
_ROUNDS = 20
_PAUSE_SECONDS = 0.5


@dataclass(frozen=True)
class Answer:
    """What a worker says of itself: host, version, the key it wrote, or why it could not."""

    host: str
    version: str
    key: str
    error: str


def probe_here(url: str, nonce: str) -> Answer:
    """Answer for this process, after writing a small document into the store."""
    host = f"{socket.gethostname()} (pid {os.getpid()})"
    key = f"{_FOLDER}/{nonce}-{socket.gethostname()}-{os.getpid()}"
    try:
        Location(url).replace(key, nonce.encode())
    except Exception as error:
        return Answer(host, installed_version(), key, f"{type(error).__name__}: {error}")
    return Answer(host, installed_version(), key, "")


def probe(client: distributed.Client, location: Location) -> None:
    """Check every worker that is there.

    Raises
    ------
    ClusterError
        Naming the host and what is wrong: another version of the package or none, or a store that it
        cannot write or that is not the one the client sees.
    """
    nonce = uuid.uuid4().hex[:12]
    try:
        for address, answer in _asked(client, location.url, nonce).items():
            _judge(address, answer, nonce, location)
    finally:
        location.delete(_FOLDER)


def _asked(client: distributed.Client, url: str, nonce: str) -> dict[str, Answer | BaseException]:
    """Ask every worker that is there, again while some are lost meanwhile: that says nothing of the package.

    Those that replace them have to answer as well.
    """
    answers: dict[str, Answer | BaseException] = {}
    for _ in range(_ROUNDS):
        answers = client.run(probe_here, url, nonce, on_error="return")
        if answers and not any(_is_loss(answer) for answer in answers.values()):
            return answers
        time.sleep(_PAUSE_SECONDS)
    kept = {address: answer for address, answer in answers.items() if not _is_loss(answer)}
    if not kept:
        raise ClusterError(f"All workers were lost while they were asked for their version, {_ROUNDS} times.")
    return kept


def _is_loss(answer: Answer | BaseException) -> bool:
    """Whether it is the connection that failed, not the worker: what it cannot write, it says itself."""
    return isinstance(answer, OSError)


def _judge(address: str, answer: Answer | BaseException, nonce: str, location: Location) -> None:
    if isinstance(answer, BaseException):
        raise ClusterError(
            f"The worker {address} cannot run scalestudy ({type(answer).__name__}: {answer}). "
            "Install the same version of the package there."
        )
    if answer.version != installed_version():
        raise ClusterError(
            f"The worker on {answer.host} has {answer.version}; here it is {installed_version()}. "
            "Install the same version there."
        )
    if answer.error:
        raise ClusterError(f"The worker on {answer.host} cannot write to {location.url}: {answer.error}.")
    if location.read(answer.key) != nonce.encode():
        raise ClusterError(
            f"What the worker on {answer.host} wrote to {location.url} cannot be read here: "
            "that path is not on a file system that both share."
        )
