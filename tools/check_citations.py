#!/usr/bin/env python3
"""Fails on a citation that leads nowhere.

[BB08 eq. 11] or [BB08]   a key of docs/math/references.bib, then the place in that work
[visc.3]                  an anchor: the line of docs/math/*.md that starts with **[visc.3]**

Every key and every anchor that is cited must exist, every anchor must be cited by some code, and
every file of src/phys must cite something.
"""

import re

import source_tree

KEY = re.compile(r"\[([A-Z][A-Za-z]*[0-9]{2}[a-z]?)(?:,? (?:eq|sec|fig|alg|app|tab)\.[^\]]*)?\]")
ANCHOR = re.compile(r"\[([a-z]+\.[0-9]+)\]")
ANCHOR_DEFINED = re.compile(r"^\*\*\[([a-z]+\.[0-9]+)\]\*\*", re.M)
BIB_ENTRY = re.compile(r"^@\w+\{([A-Za-z0-9]+),", re.M)


def comments(text):
    """The text with everything but comments blanked, line for line."""
    keep = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
    out, at = [], 0
    for match in keep.finditer(text):
        out.append("\n" * text.count("\n", at, match.start()))
        out.append(match.group(0))
        at = match.end()
    return "".join(out)


def citations(text, pattern):
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def prose(text):
    """Markdown without code spans and blocks, line for line: examples of citations are not any."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def prose_files(root):
    docs = sorted((root / "docs").rglob("*.md"))
    return docs + [p for p in sorted(root.glob("*.md")) if p.is_file()]


def check(root):
    bib = root / "docs/math/references.bib"
    entries = BIB_ENTRY.findall(source_tree.read(bib)) if bib.exists() else []
    complaints = [f"docs/math/references.bib: {key} is there twice"
                  for key in sorted({k for k in entries if entries.count(k) > 1})]
    keys, anchors, cited = set(entries), {}, set()
    for path in sorted((root / "docs/math").glob("*.md")):
        for line, anchor in citations(source_tree.read(path), ANCHOR_DEFINED):
            if anchor in anchors:
                complaints.append(f"{path.relative_to(root)}:{line}: [{anchor}] is there twice")
            anchors[anchor] = f"{path.relative_to(root)}:{line}"

    sources = source_tree.c_files(root)
    for path in sources + prose_files(root):
        name = path.relative_to(root)
        is_code = path in sources
        text = comments(source_tree.read(path)) if is_code else prose(source_tree.read(path))
        found = 0
        for line, key in citations(text, KEY):
            found += 1
            if key not in keys:
                complaints.append(f"{name}:{line}: [{key}] is not in docs/math/references.bib")
        for line, anchor in citations(text, ANCHOR):
            found += 1
            if is_code:
                cited.add(anchor)
            if anchor not in anchors:
                complaints.append(f"{name}:{line}: no **[{anchor}]** in docs/math")
        if found == 0 and name.match("src/phys/*.c"):
            complaints.append(f"{name}: a law without a reference")
    complaints += [f"{anchors[a]}: no code cites [{a}]" for a in sorted(set(anchors) - cited)]
    return complaints


if __name__ == "__main__":
    source_tree.run(check)
