#!/bin/sh
# Simulates the demonstration scene into out/demo, says where its picture and film are, and measures
# how the thread coils.
set -eu
scene=scenes/demo.yaml
out=out/demo

rm -rf "$out"
build/treacle run "$scene" -o "$out" --preview --film "$out/demo.mp4"
picture=$(find "$out" -name 'preview_*.png' | sort | tail -1)
echo
echo "picture: ${picture:?the run has made no picture}"
echo "film:    $out/demo.mp4"
echo "frames:  $out (build/treacle info $out tells about them)"
echo
echo "How often the thread coils (treacle coiling $out):"
build/treacle coiling "$out"
