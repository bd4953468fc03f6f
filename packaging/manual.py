#!/usr/bin/env python3
"""Makes the man page and the completion of bash from the program's help texts.

  packaging/manual.py PROGRAM man|completion
"""

import re
import sys

from program import invocation, output


def help_of(program: str, *words: str) -> str:
    return output(*invocation(program), *words, "--help", check=False)


def commands(program: str) -> list:
    """(name, what it does) of each."""
    return re.findall(r"^  (\w+) {2,}(\S.*)$", help_of(program), re.MULTILINE)


def subcommands(text: str) -> list:
    _, _, listed = text.partition("Subcommands:\n")
    return re.findall(r"^  (\w+)", listed, re.MULTILINE)


def paths(program: str) -> list:
    """Each command and subcommand as a tuple of words, with its help."""
    found = []
    for name, _ in commands(program):
        text = help_of(program, name)
        found.append(((name,), text))
        found += [((name, sub), help_of(program, name, sub)) for sub in subcommands(text)]
    return found


def flags(text: str) -> list:
    """(flag, rest of its line and what follows) of a help."""
    found = []
    for line in text.splitlines():
        match = re.match(r"^  (?:-\w,)?(--[a-z0-9-]+)(?:\s+(\S.*))?$", line)
        if match:
            found.append([match[1], (match[2] or "").strip()])
        elif found and line.startswith("          "):
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return found


def roff(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def man(program: str) -> str:
    version = output(*invocation(program), "version").split()[1]
    lines = [f'.TH FLYBALL 1 "" "flyball {version}" "User Commands"', ".SH NAME",
             "flyball \\- metrics APIs from Prometheus and scaling for Kubernetes", ".SH SYNOPSIS", ".B flyball", "COMMAND [flags]", ".SH COMMANDS"]
    for name, what in commands(program):
        lines += [".TP", f".B {name}", roff(what)]
    for command, text in paths(program):
        lines += [f'.SH "FLAGS OF {" ".join(command).upper()}"', roff(text.strip().splitlines()[0])]
        for flag, what in flags(text):
            lines += [".TP", f".B {roff(flag)}", roff(what) or "\\&"]
    lines += [".SH EXIT STATUS", "0 if all is well, 1 if what was looked at is not, 2 for a wrong command line or input that cannot be read; serve: 255 when it cannot start."]
    return "\n".join(lines) + "\n"


def completion(program: str) -> str:
    return output(*invocation(program), "completion", "bash")


if __name__ == "__main__":
    sys.stdout.write({"man": man, "completion": completion}[sys.argv[2]](sys.argv[1]))
