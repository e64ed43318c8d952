#!/usr/bin/env python3
"""Fails on an #include that points upward, on a back door, and on two files of one name.

A folder of src/ may include its own headers and those of the folders that the table allows. Tests
and benches may look inside; programs, validate and examples may not: they use include/treacle.
What benches and validate share of the solvers (apps/measure/solver_*) may, behind its own headers.
Libraries of others stay in the folder that wraps them.
"""

import re

import source_tree

# Folder of src/ -> folders that it may include, apart from itself. Bottom to top.
ALLOWED = {
    "base": "",
    "vdb": "base",
    "math": "base",
    "geometry": "base vdb math",
    "defs": "base math",
    "grid": "base math",
    "particles": "base math geometry grid",
    "solve": "base math grid",
    "phys": "base math geometry defs grid particles solve",
    "step": "base math geometry grid particles solve phys",
    "compare": "base math geometry grid particles solve phys step",
    "sim": "base math geometry defs grid particles solve phys step compare",
    "cache": "base math",
    "image": "base math",
    "measure": "base math",
    "mesh": "base math geometry cache",
    "render": "base math geometry cache image mesh",
    "export": "base vdb math geometry cache mesh",
    "scene": "base math geometry defs grid particles",
    "run": "base math cache image render scene sim",
}

# Header of someone else's -> folders of src/ that may include it. Others are free to all.
WRAPPED = {
    "pthread.h": "base",
    "omp.h": "base",
    "mpi.h": "base",
    "p8est.h": "grid",
    "yaml.h": "scene",
    "png.h": "image",
    "blosc.h": "cache vdb",
    "zlib.h": "vdb",
    "embree3/rtcore.h": "render",
    "OpenEXR/openexr.h": "image",
}

# What programs share.
SHARED = "apps/measure"

# Folders that see the public API alone, but for files that run parts of the library for them.
OUTSIDE = ("apps", "validate", "examples")
PROBES = "apps/measure/solver_"
# The only headers of these that validate may include: it shows no more than the public API.
PROBE_DOORS = ("solver_counts.h", "solver_shapes.h")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)


def quoted_includes(path):
    """(line, target) of each #include "..."; (line, target) of each #include <...>."""
    text = source_tree.read(path)
    ours, others = [], []
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        (ours if match.group(1) == '"' else others).append((line, match.group(2)))
    return ours, others


def complain_layer(root, path, line, target):
    """What is wrong with an #include "target" in a file of src/, or None."""
    folder = path.relative_to(root / "src").parts[0]
    if target.startswith("treacle/"):
        return None
    if "/" not in target:
        return f'"{target}" has no folder: write "folder/{target}"'
    to = target.split("/")[0]
    if folder not in ALLOWED:
        return f"folder src/{folder} is not in the table of tools/check_layers.py"
    if to != folder and to not in ALLOWED[folder].split():
        return f'src/{folder} must not include "{target}": {to} is not below it'
    return None


def complain_outside(root, path, target):
    """What is wrong with an #include "target" in a program, or None."""
    if target.startswith("treacle/"):
        return None if (root / "include" / target).exists() else f'"{target}" does not exist'
    if path.relative_to(root).as_posix().startswith(PROBES):
        return None
    is_inner = target.startswith("solver_") and (root / SHARED / target).exists()
    if is_inner and target not in PROBE_DOORS:
        return f'"{target}" looks inside: use {" or ".join(PROBE_DOORS)}'
    if "/" not in target and any((f / target).exists() for f in (path.parent, root / SHARED)):
        return None
    return f'"{target}" is not of the public API: use "treacle/..."'


def complain_public(root, path, target):
    """What is wrong with an #include "target" in a public header, or None."""
    if (path.parent / target).exists() or (root / "include" / target).exists():
        return None
    return f'"{target}" is not a public header'


def complain_wrapped(root, path, target):
    """What is wrong with an #include <target>, or None."""
    if target not in WRAPPED:
        return None
    parts = path.relative_to(root).parts
    if parts[0] == "tests" or (parts[0] == "src" and parts[1] in WRAPPED[target].split()):
        return None
    return f"<{target}> belongs to src/{WRAPPED[target]} alone"


def complain(root, path):
    ours, others = quoted_includes(path)
    top = path.relative_to(root).parts[0]
    for line, target in ours:
        if top == "src":
            wrong = complain_layer(root, path, line, target)
        elif top == "include":
            wrong = complain_public(root, path, target)
        elif top in OUTSIDE:
            wrong = complain_outside(root, path, target)
        else:
            wrong = None
        yield line, wrong
    for line, target in others:
        yield line, complain_wrapped(root, path, target)


def check(root):
    complaints, seen = [], {}
    for path in source_tree.c_files(root):
        name = path.relative_to(root)
        for line, wrong in complain(root, path):
            if wrong:
                complaints.append(f"{name}:{line}: {wrong}")
        if path.name == "main.c":
            continue
        # A public header may share its name with the internal header that it shows.
        key = (path.name, name.parts[0] == "include")
        if key in seen:
            complaints.append(f"{name}: file names are unique, but there is {seen[key]} too")
        seen[key] = name
    return complaints


if __name__ == "__main__":
    source_tree.run(check)
