"""Starting worker processes that do not run the user's script again."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def main_module_left_alone() -> Iterator[None]:
    """Start processes, while the body runs, that do not import the main module of this one.

    Python's `spawn` imports it again in each child, in case what the child is to run is defined there. Ours
    is not: without this, a script that calls `scalestudy.run` outside ``if __name__ == "__main__":`` would
    start itself again in every worker, and each worker of a command would import the command's figures.
    """
    main = sys.modules["__main__"]
    kept = {name: getattr(main, name) for name in ("__spec__", "__file__") if hasattr(main, name)}
    main.__spec__ = None
    if "__file__" in kept:
        del main.__file__
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(main, name, value)
