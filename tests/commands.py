"""Commands as a shell calls them, in this process."""

from click.testing import CliRunner

from fairbandits.cli.main import main


def invoke(*words):
    """Return what came of a command."""
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, [str(word) for word in words])


def said(*words):
    """Return what a command says that must succeed."""
    result = invoke(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words, code=1):
    """Run a command that must fail without a traceback; return the line that says why.

    A wrong use (2) shows how it is used before.
    """
    result = invoke(*words)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert isinstance(result.exception, SystemExit)
    *others, line = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert code == 2 or not others, result.stderr
    return line.removeprefix("Error: ")
