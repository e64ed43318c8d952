#!/usr/bin/env python3
"""Prints comments and assertions of src/ by folder, and with a folder as argument by file.

A line with a comment of its own counts as own, one with code and a comment behind it as trailing;
the percentages are of lines that are not empty. Assertions are uses of TREACLE_ASSERT,
TREACLE_VALIDATE and _Static_assert.

usage: tools/count_comments.py [--files] [FOLDER ...]     folders of src/, all without any
"""

import pathlib
import re
import sys

import source_tree

ASSERTION = re.compile(r"\b(?:TREACLE_ASSERT|TREACLE_VALIDATE|_Static_assert)\s*\(")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def count(path):
    """(lines, own, trailing, assertions) of one file."""
    text = source_tree.read(path)
    starts = [m for m in TOKEN.finditer(text) if m.group(0).startswith(("//", "/*"))]
    commented = set()
    for match in starts:
        first = text.count("\n", 0, match.start())
        commented |= set(range(first, first + match.group(0).count("\n") + 1))
    code = source_tree.strip_comments_and_strings(text)
    lines = own = trailing = 0
    for number, (line, bare) in enumerate(zip(text.split("\n"), code.split("\n"))):
        lines += bool(line.strip())
        if number in commented:
            own += not bare.strip()
            trailing += bool(bare.strip())
    uses = sum(1 for line in code.split("\n")
               if ASSERTION.search(line) and not line.lstrip().startswith("#define"))
    return lines, own, trailing, uses


def show(name, sums):
    lines, own, trailing, uses = sums
    print(f"{name:28} {lines:7} {100.0 * own / lines:6.1f} {100.0 * trailing / lines:6.1f} "
          f"{100.0 * (own + trailing) / lines:6.1f} {uses:6}")


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    words = [word for word in sys.argv[1:] if word != "--files"]
    folders = words or sorted(p.name for p in (root / "src").iterdir() if p.is_dir())
    print(f"{'':28} {'lines':>7} {'own %':>6} {'+':>6} {'all %':>6} {'asserts':>6}")
    total = [0, 0, 0, 0]
    for folder in folders:
        for kind in (".c", ".h"):
            files = [p for p in source_tree.c_files(root, (f"src/{folder}",)) if p.suffix == kind]
            counts = [(p, count(p)) for p in files]
            sums = [sum(c[i] for _, c in counts) for i in range(4)]
            total = [a + b for a, b in zip(total, sums)]
            if sums[0] > 0:
                show(f"{folder}/*{kind}", sums)
            for path, sums_of in counts if "--files" in sys.argv else ():
                show(f"  {path.name}", sums_of)
    show("src", total)


if __name__ == "__main__":
    main()
