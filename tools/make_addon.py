#!/usr/bin/env python3
"""Packs blender/treacle_addon into one zip that Blender installs: make_addon.py OUT.zip

The same sources give the same bytes.
"""

import pathlib
import sys
import zipfile


def main():
    root = pathlib.Path(__file__).resolve().parent.parent / "blender"
    with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted((root / "treacle_addon").glob("*.py")):
            entry = zipfile.ZipInfo(str(path.relative_to(root)), (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            out.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    main()
