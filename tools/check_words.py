#!/usr/bin/env python3
"""Fails on an identifier of src/ that has a word with no meaning of its own any more.

docs/dev/words.md has the table ("Gone"): a word, what to say instead, and the folders of src/ that
it is gone from. An identifier is taken apart at its underscores. Names of the public headers may be
used as they are, members of one word behind a dot, an arrow or in offsetof alone; what remains
besides is in tools/word_exceptions.txt, a line each: `word file count reason`. That list only gets
shorter: a count that is too high is a complaint, too.

And fails on a name that static functions of more than STATIC_FILES files have: in a profile it says
nothing. Such a function carries the name of its file.
"""

import collections
import re

import source_tree

PAGE = "docs/dev/words.md"
STATIC_FILES = 4
STATIC = re.compile(r"^(?:static|TREACLE_ALWAYS_INLINE) (?:inline )?[\w \*]+?[ \*](\w+)\(", re.M)
EXCEPTIONS = "tools/word_exceptions.txt"
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
MEMBER = re.compile(r"(?:->|\.|offsetof\([^()]*, )$")


def gone_words(root):
    """word -> (what to say, folders of src/ or None for all)."""
    text = source_tree.read(root / PAGE)
    table = text.split("\n## Gone\n", 1)[1].split("\n## ", 1)[0]
    words = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and cells[0] != "word" and not cells[0].startswith("---"):
            folders = None if cells[2] == "all" else set(cells[2].split())
            for word in cells[0].split(","):
                words[word.strip()] = (cells[1], folders)
    return words


def public_names(root):
    """All identifiers of the public headers."""
    names = set()
    for path in source_tree.c_files(root, ("include",)):
        text = source_tree.strip_comments_and_strings(source_tree.read(path))
        names |= set(IDENTIFIER.findall(text))
    return names


def exceptions(root):
    """(word, file) -> count."""
    path = root / EXCEPTIONS
    found = {}
    for line in source_tree.read(path).splitlines() if path.is_file() else ():
        if line.strip() and not line.startswith("#"):
            word, name, count = line.split()[:3]
            found[word, name] = int(count)
    return found


def uses(root, words, public):
    """(word, file) -> [(line, identifier)]."""
    found = collections.defaultdict(list)
    for path in source_tree.c_files(root, ("src",)):
        name = str(path.relative_to(root))
        folder = path.relative_to(root / "src").parts[0]
        text = source_tree.strip_comments_and_strings(source_tree.read(path))
        for number, line in enumerate(text.splitlines(), 1):
            for match in IDENTIFIER.finditer(line):
                identifier = match.group(0)
                is_plain = "_" not in identifier and not MEMBER.search(line[: match.start()])
                if identifier in public and not is_plain:
                    continue
                for part in set(identifier.lower().split("_")) & words.keys():
                    folders = words[part][1]
                    if folders is None or folder in folders:
                        found[part, name].append((number, identifier))
    return found


def crowded_names(root):
    """Complaints about names that static functions of too many files have."""
    files = collections.defaultdict(set)
    for path in source_tree.c_files(root, ("src",)):
        if path.suffix == ".c":
            text = source_tree.strip_comments_and_strings(source_tree.read(path))
            for name in STATIC.findall(text):
                files[name].add(str(path.relative_to(root)))
    return [f"static functions '{name}' in {len(names)} files: put the file's name before it: "
            + " ".join(sorted(names))
            for name, names in sorted(files.items()) if len(names) > STATIC_FILES]


def check(root):
    words, allowed = gone_words(root), exceptions(root)
    found = uses(root, words, public_names(root))
    complaints = crowded_names(root)
    for (word, name), places in sorted(found.items()):
        if len(places) > allowed.get((word, name), 0):
            for number, identifier in places:
                say = words[word][0]
                complaints.append(f"{name}:{number}: {identifier}: not '{word}' but: {say}")
    for (word, name), count in sorted(allowed.items()):
        have = len(found.get((word, name), ()))
        if have < count:
            complaints.append(f"{EXCEPTIONS}: {name} has '{word}' {have} times, not {count}")
    return complaints


if __name__ == "__main__":
    source_tree.run(check)
