#!/usr/bin/env python3
"""Fails on a function that src/solve/README.md names and src/solve does not have.

Names stand in backticks. One that looks like a function of the folder (words joined by underscores)
must be defined in one of its files; names of files are checked, too.
"""

import re

import source_tree

PAGE = "src/solve/README.md"
SPAN = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+$")
FILE = re.compile(r"[a-z0-9_]+\.[ch]$")
DEFINED = re.compile(r"^[A-Za-z_][\w \*]*?\b(\w+)\((?:[^;{}()]|\([^()]*\))*\)\s*\{", re.M)
TYPE = re.compile(r"\}\s*(\w+);")


def known(root):
    """Names of functions and types of the folder, and of its files."""
    names = set()
    for path in source_tree.c_files(root, ("src/solve",)):
        text = source_tree.strip_comments_and_strings(source_tree.read(path))
        names |= set(DEFINED.findall(text)) | set(TYPE.findall(text)) | {path.name}
    return names


def check(root):
    names = known(root)
    complaints = []
    for number, line in enumerate(source_tree.read(root / PAGE).splitlines(), 1):
        for span in SPAN.findall(line):
            is_meant = NAME.match(span) or FILE.match(span)
            if is_meant and span not in names:
                complaints.append(f"{PAGE}:{number}: src/solve has no {span}")
    return complaints


if __name__ == "__main__":
    source_tree.run(check)
