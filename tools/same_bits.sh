#!/bin/bash
# Compares the bits of two versions: the state's hash after each of the first steps of every scene
# and of the golden tests. A line a scene; exit code 0 only if all are equal, 1 if one differs, 2
# if a version cannot be built.
#
# usage: tools/same_bits.sh BASE [SCENE ...]     BASE is a commit, or a folder of sources that are
#                                                built in its folder build
#
# Scenes are named without folder and ending (honey_coil, golden:0); none means all. What is large is
# computed with wider cells, as many steps as BASE makes in about a second on one thread. What was
# computed is kept in build/same_bits by the hash of what computed it: a comparison that was
# interrupted goes on, and BASE is built and run once.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 2
build=${TREACLE_BUILD:-$root/build}
work=$build/same_bits

fail() {
    echo "$*" >&2
    exit 2
}

# loud_on_failure COMMAND...: shows what a command printed only if it failed.
loud_on_failure() {
    "$@" >"$work/log" 2>&1 || { tail -30 "$work/log" >&2; return 1; }
}

# build_commit COMMIT: its sources in $work/COMMIT and a build inside.
build_commit() {
    local folder=$work/$1
    if [ ! -e "$folder/CMakeLists.txt" ]; then
        rm -rf "$folder.new"
        mkdir -p "$folder.new"
        git -C "$root" archive "$1" | tar x -C "$folder.new" && mv "$folder.new" "$folder" || return 1
    fi
    mkdir -p "$folder/build"
    [ ! -e "$build/bunny.ply" ] || ln -sf "$build/bunny.ply" "$folder/build/" # scenes of scenes/extra read it
    loud_on_failure cmake -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release
}

# make_program SOURCES BUILD: brings the library up to date and prints the folder of hashes that
# belongs to it, which has the program that computes them.
make_program() {
    if [ -e "$2/build.ninja" ]; then
        loud_on_failure ninja -C "$2" treacle_shared || return 1
    fi
    local program=$root/tests/golden/state_hashes.c key folder
    key=$(cd "$1" && find -L scenes -type f -print0 | LC_ALL=C sort -z |
        xargs -0 cat "$2/libtreacle.so" "$program" | sha256sum | cut -c 1-16)
    folder=$work/hashes/$key
    mkdir -p "$folder"
    loud_on_failure cc -std=c17 -D_GNU_SOURCE -O1 -I"$1/include" -I"$1/tests" -I"$root/tests" "$program" \
        -o "$folder/state_hashes" -L"$2" -ltreacle -Wl,-rpath,"$2" -lm || return 1
    echo "$folder"
}

# hashes SOURCES FOLDER SCENE [COARSE STEPS]: prints the file with the scene's hashes.
hashes() {
    local path=$3 out=$2/$3.${4:-}.${5:-}
    [[ $3 == golden:* ]] || path=$(cd "$1" && ls "scenes/$3.yaml" "scenes/extra/$3.yaml" 2>/dev/null)
    if [ ! -e "$out" ]; then
        (cd "$1" && exec "$2/state_hashes" "${path:-$3}" "${@:4}") >"$out.new" 2>&1
        local code=$?
        [ $code -le 1 ] || echo "ended by $code" >>"$out.new"
        [ $code -lt 128 ] || [ $code -gt 130 ] || exit 2 # interrupted
        mv "$out.new" "$out"
    fi
    echo "$out"
}

names() {
    (cd "$1" && ls scenes/*.yaml scenes/extra/*.yaml 2>/dev/null) | sed 's|.*/||; s|\.yaml$||'
    printf 'golden:%d\n' 0 1 2 3
}

# compare SCENE: one line; fails if the two differ.
compare() {
    local base tree coarse steps at
    base=$(hashes "$base_root" "$base_folder" "$1")
    coarse=$(sed -n 's/^coarse //p' "$base")
    steps=$(($(grep -c '^[0-9]' "$base") - 1))
    if [ "$steps" -lt 1 ]; then
        tree=$(hashes "$root" "$tree_folder" "$1")
    else
        tree=$(hashes "$root" "$tree_folder" "$1" "$coarse" "$steps")
    fi
    if cmp -s "$base" "$tree"; then
        if [ "$steps" -lt 1 ]; then
            printf 'same    %-22s does not run: %s\n' "$1" "$(tail -1 "$base")"
        else
            printf 'same    %-22s %2d steps, cells x %d, %d particles\n' "$1" "$steps" "$coarse" \
                "$(tail -1 "$base" | cut -d' ' -f1)"
        fi
        return 0
    fi
    at=$(diff "$base" "$tree" | sed -n 's/^[<>] //p' | head -1)
    printf 'DIFFERS %-22s first at: %s\n' "$1" "$at"
    return 1
}

[ $# -ge 1 ] || fail "usage: tools/same_bits.sh BASE [SCENE ...]"
mkdir -p "$work"
if [ -d "$1" ]; then
    base_root=$(cd "$1" && pwd)
else
    commit=$(git -C "$root" rev-parse --verify -q "$1^{commit}") || fail "$1: no such commit and no such folder"
    build_commit "$commit" || fail "cannot configure $1"
    base_root=$work/$commit
fi
shift
base_folder=$(make_program "$base_root" "$base_root/build") || fail "cannot build $base_root"
tree_folder=$(make_program "$root" "$build") || fail "cannot build $root"
[ $# -gt 0 ] || mapfile -t all < <({ names "$base_root"; names "$root"; } | LC_ALL=C sort -u)
count=0
differ=0
for scene in "${@:-${all[@]}}"; do
    count=$((count + 1))
    compare "$scene" || differ=$((differ + 1))
done
echo "$count compared, $differ differ"
[ "$differ" = 0 ]
