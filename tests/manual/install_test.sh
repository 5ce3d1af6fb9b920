#!/bin/sh
# install_test.sh CMAKE BUILD: `cmake --install` brings a program that runs, its man page, the licence and the manual.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" --install "$2" --prefix "$work" >"$work/said"
"$work/bin/looptask" version
for file in share/man/man1/looptask.1 share/doc/LoopTask/LICENSE share/doc/LoopTask/README.md share/doc/LoopTask/docs/configuration.md; do
  [ -s "$work/$file" ] || { echo "FAILED: no $file"; exit 1; }
done
head -n 20 "$work/share/man/man1/looptask.1" | grep -q '^\.TH "looptask" "1"' || { echo 'FAILED: this is no man page'; exit 1; }
