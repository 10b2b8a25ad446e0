"""The command completion. This file imports the standard library only."""

from __future__ import annotations

import argparse
from typing import Any, Iterator

from .failure import DONE
from .parser import parser
from .streams import say

SCRIPT = """\
_certreg() {{
    local given="${{COMP_WORDS[1]}}" words=
    [ "$given" != denoise ] || given="denoise ${{COMP_WORDS[2]}}"
    case "$COMP_CWORD $given $3" in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$2"))
}}
[ -z "$ZSH_VERSION" ] || {{ autoload -U +X bashcompinit && bashcompinit; }}
complete -o default -F _certreg certreg
"""


def run(_: argparse.Namespace) -> int:
    """Prints the script that completes commands, options and their choices, and files by itself."""
    top: Any = parser()
    known = top._subparsers._group_actions[0].choices
    cases = (f'    {pattern}) words="{" ".join(words)}" ;;' for pattern, words in _cases(known))
    say(SCRIPT.format(cases="\n".join(cases)))
    return DONE


def _cases(known: Any) -> Iterator[Any]:
    """What may follow: a pattern of the number of words, the command and the word before."""
    yield '"1 "*', dict.fromkeys(name.split()[0] for name in known)
    yield '"2 denoise "*', [name.split()[1] for name in known if " " in name]
    for name, command in known.items():
        for action in command._actions:
            for option in action.option_strings if action.choices else ():
                yield f'*" {name} {option}"', action.choices
        yield f'*" {name} "*', [option for a in command._actions for option in a.option_strings]
