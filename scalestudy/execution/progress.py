"""Progress of a run: a bar on a terminal, plain lines elsewhere, both weighted by cost and not by count."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from scalestudy.execution.block import Outcome
from scalestudy.study import CostModel, Plan
from scalestudy.units import counted, duration

_LINE_EVERY_SECONDS = 10.0


class ProgressDisplay:
    """Shows how far a run is and when it should end.

    The remaining time is the predicted cost of what is left at the speed seen so far, so it is right even
    where the cost model's idea of the machine is not.

    Parameters
    ----------
    console : rich.console.Console
        Where to show it.
    cost : CostModel
        Weighs the blocks.
    """

    def __init__(self, console: Console, cost: CostModel) -> None:
        self._console = console
        self._cost = cost
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._total = self._came = 0.0
        self._blocks = self._of = self._failed = 0
        self._began = self._said = 0.0

    def started(self, plan: Plan, where: str, dashboard: str | None) -> None:
        """Say what begins, and where to watch it."""
        self._total = plan.seconds_left
        self._of = plan.blocks_left
        self._began = self._said = time.monotonic()
        held = f"; {counted(plan.trials_done, 'trial')} in the store already" if plan.trials_done else ""
        self._console.print(
            f"Running {counted(plan.trials_left, 'trial')} in {counted(self._of, 'block')} on {where}{held}."
        )
        if dashboard:
            self._console.print(f"Dashboard: {dashboard}")
        note = self._cost.installation_note()
        if note:
            self._console.print(f"Note: {note}", markup=False)
        if self._console.is_terminal:
            columns = (BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TextColumn("{task.description}"))
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._task = self._bar.add_task("", total=self._total)
            self._bar.start()

    def came_back(self, outcome: Outcome) -> None:
        """Count a block."""
        block = outcome.work.block
        self._came += block.trials * self._cost.trial_seconds(block.point)
        self._blocks += 1
        self._failed += bool(outcome.error)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._came, description=self._words())
        elif time.monotonic() - self._said >= _LINE_EVERY_SECONDS:
            self._said = time.monotonic()
            self._console.print(f"{100 * self._came / self._total:3.0f}%  {self._words()}")

    def ended(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _words(self) -> str:
        elapsed = time.monotonic() - self._began
        left = elapsed * (self._total - self._came) / self._came if self._came else 0.0
        failed = f", {self._failed} failed" if self._failed else ""
        return (
            f"{self._blocks} of {counted(self._of, 'block')}{failed}, about {duration(max(left, 0.0))} left"
        )
