#!/bin/sh
# Removes the files that "make install" has put somewhere, and folders of ours that are then empty.
#
# usage: packaging/uninstall.sh MANIFEST [DESTDIR]
set -eu

manifest=$1
destdir=${2:-}
if [ ! -f "$manifest" ]; then
    echo "uninstall: there is no $manifest: nothing was installed from here" >&2
    exit 1
fi
count=0
# The last line has no end.
while IFS= read -r file || [ -n "$file" ]; do
    if [ -e "$destdir$file" ] || [ -L "$destdir$file" ]; then
        rm -f -- "$destdir$file"
        count=$((count + 1))
    fi
    folder=$(dirname "$destdir$file")
    while [ "${folder#*treacle}" != "$folder" ] && [ -d "$folder" ]; do
        case $folder in */dist-packages/treacle) rm -rf -- "$folder/__pycache__" ;; esac
        case $(basename "$folder") in
        *treacle* | scenes | extra | meshes | fin)
            find "$folder" -mindepth 1 -depth -type d -empty -delete
            rmdir -- "$folder" 2>/dev/null || break
            ;;
        *) break ;;
        esac
        folder=$(dirname "$folder")
    done
done <"$manifest"
echo "$count files are removed"
