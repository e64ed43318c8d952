"""What the checks of the tree share: which files there are, and how a check reports."""

import pathlib
import re
import sys

C_FOLDERS = ("include", "src", "apps", "validate", "bench", "examples", "tests")


def c_files(root, folders=C_FOLDERS):
    """All C sources and headers below the folders, in a fixed order."""
    found = []
    for folder in folders:
        base = pathlib.Path(root) / folder
        found += [p for p in sorted(base.rglob("*")) if p.suffix in (".c", ".h") and p.is_file()]
    return found


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def strip_comments_and_strings(text):
    """The same text, line for line, with comments removed and the insides of strings emptied."""

    def blank(match):
        token = match.group(0)
        if token.startswith(("//", "/*")):
            return "\n" * token.count("\n")
        return token[0] + token[-1]

    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, blank, text, flags=re.S)


def run(check):
    """Runs check(root) -> complaints on the tree named on the command line, or on our own."""
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    complaints = check(root)
    for complaint in complaints:
        print(complaint)
    name = pathlib.Path(sys.argv[0]).stem
    print(f"{name}: {len(complaints)} complaint{'' if len(complaints) == 1 else 's'}")
    sys.exit(1 if complaints else 0)
