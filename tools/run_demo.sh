#!/bin/sh
# Simulates the demonstration scene into out/demo and says where its picture and film are.
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
