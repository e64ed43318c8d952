#!/usr/bin/env python3
"""Makes files into C: embed_files.py OUT.c TABLE NAME=FILE ...

The result defines TABLE and TABLE_count, of apps/treacle/TABLE.h.
"""

import sys

TYPES = {"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
         "css": "text/css; charset=utf-8", "yaml": "text/plain; charset=utf-8"}


def main():
    out, table, *inputs = sys.argv[1:]
    arrays, rows = [], []
    for k, item in enumerate(inputs):
        name, path = item.split("=", 1)
        with open(path, "rb") as file:
            data = file.read()
        lines = ",\n".join(",".join(map(str, data[i:i + 1000])) for i in range(0, len(data), 1000))
        arrays.append(f"static const unsigned char data_{k}[] = {{\n{lines}\n}};\n")
        kind = TYPES[path.rsplit(".", 1)[1]]
        rows.append(f'    {{"{name}", "{kind}", data_{k}, sizeof(data_{k})}},\n')
    with open(out, "w", encoding="ascii") as file:
        file.write(f'#include "{table}.h"\n\n' + "".join(arrays))
        file.write(f"const embedded_file {table}[] = {{\n" + "".join(rows) + "};\n")
        file.write(f"const int {table}_count = {len(rows)};\n")


if __name__ == "__main__":
    main()
