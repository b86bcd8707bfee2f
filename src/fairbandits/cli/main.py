"""The command line; each step of the workflow is one of these commands.

A file is imported when one of its commands runs or shows its help, what is slow in the command.
"""

import signal
import sys
from importlib import import_module

import click

from fairbandits.cli.options import examples
from fairbandits.settings.schemas import ConfigError

#: What a command is for -> the commands, in this order.
SECTIONS = {
    "Commands": "demo replicate claims which arena judge describe rejudge verify"
    " article archive fetch export replay",
    "To change the project": "check-claims freeze numbers lock",
    "Steps of the workflow": "simulate collect figure audit verdicts record standings notebook"
    " site manifest",
}
#: File -> the commands that it has.
FILES = {
    "audit": "audit verdicts record claims check-claims freeze rejudge",
    "own": "demo which arena standings judge",
    "replicate": "replicate",
    "report": "describe notebook site numbers export article",
    "steps": "simulate collect figure replay",
    "verify": "verify lock manifest archive fetch",
}
#: What only commands import that re-run the papers, by the name of the module.
REPLICATE = (
    *("IPython", "docutils", "ipykernel", "jupyter_client", "nbformat"),
    *("papermill", "psutil", "rocrate", "snakemake", "snakemake_interface_logger_plugins"),
    *("sphinx", "sympy"),
)
#: What takes up an interrupted run where it stopped.
CONTINUED = ("replicate", "rejudge", "judge")
FILE_OF = {name: file for file, names in FILES.items() for name in names.split()}


class Commands(click.Group):
    """Commands whose expected errors are printed as one message."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if file := FILE_OF.get(name):
            return getattr(import_module(f"{__package__}.{file}"), name.replace("-", "_"))
        return None

    def invoke(self, context: click.Context):
        try:
            return super().invoke(context)
        except ModuleNotFoundError as error:
            if error.name not in REPLICATE:  # a user's own code can lack others
                raise
            raise click.ClickException(
                f'this needs {error.name}: `pip install "fairbandits[replicate]"`, and a checkout '
                "of the project, where `make setup` installs all of it"
            ) from error
        except KeyboardInterrupt as error:
            again = "continues" if context.invoked_subcommand in CONTINUED else "starts again"
            click.echo(f"Interrupted. The same command {again}.", err=True)
            raise click.exceptions.Exit(128 + getattr(error, "number", signal.SIGINT)) from None
        except Exception as error:
            store = sys.modules.get("fairbandits.data.store")  # only some commands import NumPy
            expected = (store.StoreError,) if store else ()
            if isinstance(error, (ConfigError, ValueError, OSError, ArithmeticError, *expected)):
                raise click.ClickException(str(error)) from error
            raise

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the commands do, commands for users first."""
        widest = max(map(len, FILE_OF))
        room = formatter.width - 6 - widest
        for title, names in SECTIONS.items():
            rows = [
                (name.ljust(widest), self.get_command(context, name).get_short_help_str(room))
                for name in names.split()
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(
    cls=Commands,
    commands=dict.fromkeys(FILE_OF),
    epilog=examples("replicate banditq_fig2", "claims --paper fair_ucb", "COMMAND --help"),
)
@click.version_option(package_name="fairbandits")
def main() -> None:
    """Fair-bandit papers re-run at their published scale."""


if __name__ == "__main__":
    main()
