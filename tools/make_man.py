#!/usr/bin/env python3
"""Makes man pages and shell completions of the command's own help: make_man.py TREACLE FOLDER

Writes FOLDER/man/treacle.1, treacle-run.1 and so on, FOLDER/treacle.bash and FOLDER/_treacle (zsh).
"""

import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"^ {2}(?:-(\w), | {4})--([\w-]+)(?: (\S+))? +(.*)$")
NARROW = re.compile(r"^ {2}(?:-(\w), | {4})--([\w-]+)(?: (\S+))?  (.*)$")


def ask(treacle, *words):
    return subprocess.run([treacle, *words], capture_output=True, text=True, check=True).stdout


def escape(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


class Help:
    """What "treacle help COMMAND" prints, taken apart."""

    def __init__(self, name, text):
        self.name = name
        head, rest = text.split("\n", 1)
        self.summary = head.split(": ", 1)[1]
        self.usage = re.search(r"^usage: (.*)$", rest, re.M)[1]
        self.options, self.operands, prose = [], [], []
        body, _, self.examples = rest.partition("examples:\n")
        for line in body.split("\n")[1:]:
            option = OPTION.match(line) or NARROW.match(line)
            operand = re.match(r"^  (\[?[A-Z]+\]?) {2,}(.*)$", line)
            if option:
                self.options.append(option.groups())
            elif operand:
                self.operands.append(operand.groups())
            elif not line.startswith("usage:"):
                prose.append(line)
        self.details = "\n".join(prose).strip()

    def man(self, version):
        out = [f'.TH "TREACLE\\-{self.name.upper()}" 1 "" "Treacle {version}" "Treacle"',
               ".SH NAME", f"treacle\\-{self.name} \\- {escape(self.summary)}",
               ".SH SYNOPSIS", ".B " + escape(self.usage), ".SH DESCRIPTION",
               *(escape(line) if line else ".PP" for line in self.details.split("\n")),
               ".SH OPTIONS"]
        for name, text in self.operands:
            out += [".TP", f".I {name}", escape(text)]
        for letter, name, value, text in self.options:
            flags = (f"\\-{letter}, " if letter else "") + "\\-\\-" + escape(name)
            out += [".TP", f".B {flags}" + (f" \\fI{escape(value)}\\fP" if value else ""),
                    escape(text)]
        if self.examples.strip():
            out += [".SH EXAMPLES", ".nf", *map(escape, self.examples.rstrip().split("\n")), ".fi"]
        out += [".SH SEE ALSO", ".BR treacle (1)"]
        return "\n".join(out) + "\n"


def overview(helps, version):
    out = [f'.TH "TREACLE" 1 "" "Treacle {version}" "Treacle"', ".SH NAME",
           "treacle \\- simulate thick liquids", ".SH SYNOPSIS", ".B treacle",
           "\\fICOMMAND\\fP ...", ".SH DESCRIPTION",
           "Simulates honey, wax, lava and gel: a scene file goes in; frames, meshes, volumes,",
           "pictures and film come out.", ".SH COMMANDS"]
    for one in helps:
        out += [".TP", f".BR treacle\\-{one.name} (1)", escape(one.summary)]
    return "\n".join(out) + "\n"


def bash(helps, starters, sections):
    cases = "\n".join(f'    {h.name}) words="' + " ".join(f"--{o[1]}" for o in h.options) + '" ;;'
                      for h in helps)
    names = " ".join(h.name for h in helps)
    return f"""# Completion of treacle for bash; made by tools/make_man.py.
_treacle() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "{names} help --version" -- "$word"))
        return
    elif [ "$command" = help ]; then
        COMPREPLY=($(compgen -W "{names} {' '.join(sections)}" -- "$word"))
        return
    elif [ "$command" = new ] && [ "$COMP_CWORD" = 2 ]; then
        COMPREPLY=($(compgen -W "{' '.join(starters)} --list" -- "$word"))
        return
    fi
    case $command in
{cases}
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _treacle treacle
"""


def zsh(helps, starters, sections):
    def quote(text):
        return text.replace("'", "").replace("[", "(").replace("]", ")").replace(":", ",")

    names = " ".join(f"'{h.name}:{quote(h.summary)}'" for h in helps)
    cases = "\n".join(f"    {h.name}) _arguments " + " ".join(
        f"'--{o[1]}[{quote(o[3])}]" + (f":{o[2]}:_files'" if o[2] else "'") for o in h.options)
        + (f" '1:scene:({' '.join(starters)})'" if h.name == "new" else "")
        + " '*:file:_files' ;;" for h in helps)
    cases += f"\n    help) _values command {' '.join([h.name for h in helps] + sections)} ;;"
    return f"""#compdef treacle
# Completion of treacle for zsh; made by tools/make_man.py.
if (( CURRENT == 2 )); then
    local -a commands=({names})
    _describe command commands
else
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{cases}
    esac
fi
"""


def main():
    treacle, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    version = ask(treacle, "--version").split()[1]
    names = re.findall(r"^  (\w+) +\S", ask(treacle, "help"), re.M)
    helps = [Help(name, ask(treacle, "help", name)) for name in names if name != "help"]
    (folder / "man").mkdir(parents=True, exist_ok=True)
    (folder / "man/treacle.1").write_text(overview(helps, version))
    for one in helps:
        (folder / f"man/treacle-{one.name}.1").write_text(one.man(version))
    starters = [line.split()[0] for line in ask(treacle, "new", "--list").splitlines()]
    keys = re.findall(r"^  (\w+) +\S", ask(treacle, "help", "scene").split("example:")[0], re.M)
    sections = ["scene", *(f"scene.{key}" for key in keys)]
    (folder / "treacle.bash").write_text(bash(helps, starters, sections))
    (folder / "_treacle").write_text(zsh(helps, starters, sections))


if __name__ == "__main__":
    main()
