"""What an executor is, and the plain loop that every other one must match bit for bit."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from scalestudy.execution.block import Outcome, Work, run_and_write
from scalestudy.store import BlockWriter, Location


class Executor(Protocol):
    """Runs groups of blocks somewhere."""

    @property
    def where(self) -> str:
        """Where the blocks run, in one line for the user."""
        ...

    @property
    def cores(self) -> int:
        """How many blocks can run at a time."""
        ...

    @property
    def worker_memory(self) -> int:
        """Bytes that one block may use."""
        ...

    def check(self, location: Location) -> None:
        """Raise ClusterError unless every worker can do the work and write to the store."""
        ...

    def run(self, groups: Sequence[Sequence[Work]], writer: BlockWriter) -> Generator[Outcome, None, None]:
        """Run every block of every group and yield what became of each, in any order."""
        ...


class SerialExecutor:
    """The reference: one block after the other, in this process."""

    def __init__(self, memory: int) -> None:
        self.where = "this process, one block after the other"
        self.cores = 1
        self.worker_memory = memory

    def check(self, location: Location) -> None:
        """Nothing to check: the client is the worker."""

    def run(self, groups: Sequence[Sequence[Work]], writer: BlockWriter) -> Generator[Outcome, None, None]:
        """Run every block in the order given."""
        for group in groups:
            for work in group:
                yield from run_and_write([work], writer)
