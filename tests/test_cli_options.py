"""Every option and argument of every command, as it is declared: a snapshot.

After a change that was meant: ``python tests/test_cli_options.py`` stores anew.
"""

import json
from pathlib import Path

import click
import pytest
from superposition import cli
from superposition.cli import models, sweeps, terminal

STORED = Path(__file__).with_name("cli_options.json")
MEND = "run `python tests/test_cli_options.py` if that was meant"
SAID = ("opts", "nargs", "required", "multiple", "is_flag", "default", "show_default", "metavar", "help")


def commands(command=cli.main, name="superposition"):
    """All commands by their names, groups too."""
    yield name, command
    for inner, one in getattr(command, "commands", {}).items():
        yield from commands(one, f"{name} {inner}")


def option(param):
    """What is said of one, of its type too; a flag that was not given is false, whichever version says so."""
    said = {key: getattr(param, key) for key in SAID if hasattr(param, key)}
    said |= {"type": [param.type.name, *getattr(param.type, "choices", ())]}
    return said | ({"default": bool(param.default)} if said.get("is_flag") else {"default": plain(param.default)})


def plain(default):
    return default if isinstance(default, (str, int, float)) else None


def described(command):
    """The sentences of a command, and its options by their names."""
    about = [command.help, command.epilog, command.hidden, getattr(command, "invoke_without_command", None)]
    return {"": about} | {param.name: option(param) for param in command.params}


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_those_that_are_stored(name):
    found = json.loads(json.dumps(described(COMMANDS[name])))
    assert found == json.loads(STORED.read_text())[name], MEND


def test_numbers_are_plain_ones():
    for command in COMMANDS.values():
        kinds = [param.type for param in command.params]
        assert not [kind for kind in kinds if kind in (click.INT, click.FLOAT)]
        assert {kind for kind in kinds if kind.name in ("integer", "float")} <= {terminal.WHOLE, terminal.REAL}


def test_the_commands_are_those_of_the_parts():
    parts = (sweeps.runs_group, models.record_group, models.diagnose, models.survey)
    assert cli.main.commands == {command.name: command for command in parts}


if __name__ == "__main__":
    STORED.write_text(json.dumps({name: described(one) for name, one in COMMANDS.items()}, indent=0) + "\n")
