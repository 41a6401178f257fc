"""Ctrl-C and SIGTERM: one of them ends a run in good order, and reaches this process only."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import Any

STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM, which batch systems send before the end, stop a run as Ctrl-C does; and only once.

    Closing takes seconds and is bounded in time. A second Ctrl-C meanwhile would cut it short somewhere
    inside of Dask, so it is ignored, until the end of the process.
    """

    def stop(*_: Any) -> None:
        for number in STOPPING:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)


@contextlib.contextmanager
def only_we_are_interrupted() -> Iterator[None]:
    """Start threads and processes that never see Ctrl-C, which a terminal sends to all of a group.

    A blocked signal stays blocked in every thread and process that is started meanwhile, and in those that
    they start, so also in a worker that replaces a dead one. Ctrl-C itself is only put off until the end,
    and so is SIGTERM, which those processes must be able to receive.
    """
    # Starting its helper process, multiprocessing unblocks the signal; so that is started first.
    resource_tracker.ensure_running()
    with put_off(signal.SIGTERM):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def put_off(*numbers: signal.Signals) -> Iterator[None]:
    """Let signals take effect only when the body is done."""
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread runs handlers, and only it may set them.
        yield
        return
    caught: list[int] = []
    before = {number: signal.signal(number, lambda seen, _: caught.append(seen)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if caught:
            signal.raise_signal(caught[0])
