#!/bin/sh
# Static analysis of our own sources with the checks of .clang-tidy; needs a configured build/.
# usage: tools/run_tidy.sh [FILE ...]
set -eu
if [ $# -gt 0 ]; then
    exec clang-tidy -quiet -p build "$@"
fi
# The same files as the build knows, without tests and without those that are
# compiled once for each instruction set.
sed -n 's/^ *"file": "\(.*\)".*/\1/p' build/compile_commands.json | grep -v -e '_simd\.c$' -e '/tests/' | sort -u |
    tr '\n' '\0' | xargs -0 -n 4 -P "$(nproc)" clang-tidy -quiet -p build
