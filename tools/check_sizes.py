#!/usr/bin/env python3
"""Fails on a function, file or line that is too long, and on what should not be there at all."""

import re

import source_tree

FUNCTION_LINES = 100
FILE_LINES = 1000
COLUMNS = 100

UNWANTED = (
    (re.compile(r"^\s*#\s*if\s+0\b"), "code that is switched off: remove it"),
    (re.compile(r"\b(TODO|FIXME|XXX)\b(?!.*#\d)"), "a note without an issue number (#123)"),
    (re.compile(r"[ \t]+$"), "spaces at the end of the line"),
    (re.compile(r"\t"), "a tab: indent by spaces"),
)


def functions(text):
    """(name, first line, lines) of each function of a C file that clang-format has laid out."""
    text = re.sub(
        r"^#ifdef __cplusplus\n.*?^#endif", lambda m: "\n" * m.group(0).count("\n"), text,
        flags=re.M | re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"), text,
                  flags=re.M)
    depth, start, head = 0, 0, ""
    for number, line in enumerate(source_tree.strip_comments_and_strings(text).split("\n"), 1):
        if depth == 0:
            if not line.strip() or line.rstrip().endswith(";"):
                head = ""
                continue
            if not head:
                start = number
            head += line
        depth += line.count("{") - line.count("}")
        if depth == 0 and "}" in line:
            name = re.search(r"(\w+)\(", head)
            if line.strip() == "}" and name:
                yield name.group(1), start, number - start + 1
            head = ""


def check_file(path, name):
    text = source_tree.read(path)
    lines = text.split("\n")
    if len(lines) - 1 > FILE_LINES:
        yield f"{name}: {len(lines) - 1} lines, at most {FILE_LINES}"
    if text and not text.endswith("\n"):
        yield f"{name}:{len(lines)}: no newline at the end of the file"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, at most {COLUMNS}"
        for pattern, wrong in UNWANTED:
            if pattern.search(line):
                yield f"{name}:{number}: {wrong}"
    for function, start, length in functions(text):
        if length > FUNCTION_LINES:
            yield f"{name}:{start}: {function} has {length} lines, at most {FUNCTION_LINES}"


def check(root):
    complaints = []
    for path in source_tree.c_files(root):
        complaints += check_file(path, path.relative_to(root))
    return complaints


if __name__ == "__main__":
    source_tree.run(check)
