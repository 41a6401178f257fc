"""What all commands share: errors become one message on stderr and an exit status, never a traceback."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Callable
from typing import Any

import click

from scalestudy.errors import ScaleStudyError

INTERRUPTED = 130

# Without it, Python looks for garbage in all that was imported before it exits, for half a second.
atexit.register(gc.freeze)


class Command(click.Command):
    """A click command whose function returns an exit status."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command and exit: 0 done, 1 some blocks failed, 2 bad input, 130 interrupted."""
        kwargs["standalone_mode"] = False
        sys.exit(exit_status(lambda: super(Command, self).main(*args, **kwargs)))


class Group(click.Group):
    """The console script: every command as a subcommand."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a subcommand and exit with its status."""
        kwargs["standalone_mode"] = False
        sys.exit(exit_status(lambda: super(Group, self).main(*args, **kwargs)))


def command(name: str) -> Callable[[Callable[..., int]], Command]:
    """Decorate a function as a command."""

    def decorate(function: Callable[..., int]) -> Command:
        made = click.command(name, cls=Command, context_settings={"help_option_names": ["-h", "--help"]})(
            function
        )
        assert isinstance(made, Command)
        return made

    return decorate


def exit_status(run: Callable[[], Any]) -> int:
    """Run something and say what went wrong, if anything, in one message."""
    try:
        status = run()
    except ScaleStudyError as error:
        click.echo(f"Error: {error}" if "\n" not in str(error) else f"Errors:\n{error}", err=True)
        return error.exit_status
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe has gone, as `head` does: not an error of ours.
        sys.stderr.close()
        return 0
    return int(status or 0)
