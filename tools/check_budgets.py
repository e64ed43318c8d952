#!/usr/bin/env python3
"""Fails on a struct with too many members, a file that includes too much, a .c without a header of
its own, and a header that several .c files implement.

What is over today stands in tools/budget_exceptions.txt, with its size and a reason. An exception
may shrink and not grow, and one that is no longer needed is a complaint, too: the list gets shorter.
"""

import re

import source_tree

MEMBERS = 20
INCLUDES = 8
SERVED = 2
HEADER_FOLDERS = ("sim", "step")
EXCEPTIONS = "tools/budget_exceptions.txt"

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?!treacle/)[^"]+"', re.M)
STRUCT = re.compile(r"\bstruct\s+(\w+)\s*\{")
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)


def bare(path):
    """The text without comments, strings and preprocessor lines."""
    text = source_tree.strip_comments_and_strings(source_tree.read(path))
    return PREPROCESSOR.sub("", text)


def inside(text, start):
    """What is between the brace at `start` and the one that closes it."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1:at]
    return text[start + 1:]


def members(body):
    """Declarators of a struct's body; those of structs inside it count, too."""
    flat = re.sub(r"\b(struct|union)\s*\w*\s*\{", "", body).replace("}", ";")
    flat = re.sub(r"\([^()]*\)|\[[^\]]*\]", "", flat)
    return sum(part.count(",") + 1 for part in flat.split(";") if len(part.split()) > 1)


def structs(root):
    for path in source_tree.c_files(root, ("src",)):
        text = bare(path)
        for match in STRUCT.finditer(text):
            count = members(inside(text, match.end() - 1))
            yield f"members {path.relative_to(root)}:{match.group(1)}", count, MEMBERS


def includes(root):
    for path in source_tree.c_files(root, ("src",)):
        count = len(INCLUDE.findall(source_tree.read(path)))
        yield f"includes {path.relative_to(root)}", count, INCLUDES


def outer(text):
    """The text at file level: what is in braces is gone."""
    out, depth = [], 0
    for char in text:
        depth -= char == "}"
        if depth == 0:
            out.append(char)
        depth += char == "{"
    return "".join(out)


def functions(path, end):
    """Names of functions that are declared (end ";") or defined (end "}") for other files."""
    pattern = r"^(?!static\b|typedef\b)[A-Za-z][\w \*]*?\b(\w+)\((?:[^;{}()]|\([^()]*\))*\)[^;{}]*?"
    return set(re.findall(pattern + ("\\{" if end == "}" else ";"), outer(bare(path)), re.M))


def headers(root):
    for folder in HEADER_FOLDERS:
        files = [p for p in source_tree.c_files(root, (f"src/{folder}",))]
        defined = {p: functions(p, "}") for p in files if p.suffix == ".c"}
        for path in defined:
            is_alone = not path.with_suffix(".h").exists() and not path.stem.endswith("_simd")
            yield f"header {path.relative_to(root)}", int(is_alone), 0
        for path in files:
            if path.suffix == ".h":
                declared = functions(path, ";")
                served = sum(1 for names in defined.values() if names & declared)
                yield f"served {path.relative_to(root)}", served, SERVED


SAID = {"members": "has {} members, at most {}", "includes": "includes {} of our headers, at most {}",
        "header": "has no header of its own", "served": "is implemented by {} .c files, at most {}"}


def read_exceptions(root):
    """What -> (size, line) of the list; a line is "KIND WHAT SIZE reason"."""
    path = root / EXCEPTIONS
    found = {}
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if line and not line.startswith("#"):
            kind, what, size, _ = line.split(maxsplit=3)
            found[f"{kind} {what}"] = (int(size), number)
    return found


def check(root):
    exceptions, complaints = read_exceptions(root), []
    for name, size, most in [*structs(root), *includes(root), *headers(root)]:
        if size <= most:
            continue
        kind, what = name.split()
        allowed, _ = exceptions.pop(name, (most, 0))
        if size > allowed:
            complaints.append(f"{what}: " + SAID[kind].format(size, allowed))
    for name, (_, number) in exceptions.items():
        complaints.append(f"{EXCEPTIONS}:{number}: {name} is within its budget: take the line out")
    return complaints


if __name__ == "__main__":
    source_tree.run(check)
