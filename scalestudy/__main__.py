"""The console script `scalestudy`: every command as a subcommand."""

from __future__ import annotations

import importlib

import click

from scalestudy.commands import Group

_COMMANDS = {
    "sweep": "Run, resume or extend a study.",
    "status": "Show what a store holds and what is left.",
    "report": "Draw the figures of a study and a page that shows them.",
    "verify": "Read a whole store, recompute a sample, repair.",
    "law": "Tabulate or plot a limit law.",
}


class _Lazy(Group):
    """Import a command only when it is used: the law needs no cluster, the status no figures."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in _COMMANDS:
            return None
        found = getattr(importlib.import_module(f"scalestudy.{cmd_name}"), cmd_name)
        assert isinstance(found, click.Command)
        return found


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="scalestudy")
def main() -> None:
    """Finite-size scaling studies of the singular-value law of softmax self-attention."""


if __name__ == "__main__":
    main()
