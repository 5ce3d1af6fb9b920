#!/bin/sh
# library_test.sh SOURCE BUILD CMAKE COMPILER: installs the library, moves it, and builds and runs a program against it by CMake and
# by pkg-config, in a folder that knows neither the sources nor the build.
set -eu
source=$1
build=$2
cmake=$3
compiler=$4
unset CPATH CPLUS_INCLUDE_PATH LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH CXXFLAGS LDFLAGS 2>/dev/null || :

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

work=$(mktemp -d /tmp/looptask-library.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp -r "$source/tests/library/consumer" "$work/consumer"
"$cmake" --install "$build" --component library --prefix "$work/first" >/dev/null
mv "$work/first" "$work/installed" # what is installed can be moved
installed=$work/installed

for path in "$source" "$build" "$work/first"; do
  if grep -rIlF "$path" "$installed"; then fail "names $path"; fi
done
for header in "$source"/include/looptask/*.hpp; do
  [ -f "$installed/include/looptask/${header##*/}" ] || fail "the header ${header##*/} is missing"
done

cd "$work"
"$cmake" -G Ninja -S consumer -B by-cmake -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$installed" >configured 2>&1 ||
  { cat configured; fail "find_package"; }
"$cmake" --build by-cmake >built 2>&1 || { cat built; fail "build by CMake"; }
[ "$(by-cmake/consumer)" = "42 from a worker, 7 from a program" ] || fail "the program built by CMake"

config=$(find "$installed" -name pkgconfig -type d)
flags=$(PKG_CONFIG_PATH=$config pkg-config --cflags --libs looptask-core)
case $flags in
  *"$source"* | *"$build"*) fail "pkg-config says $flags" ;;
esac
mkdir by-pkg-config
# shellcheck disable=SC2086 # the flags are words
"$compiler" -std=c++20 consumer/main.cpp $flags -o by-pkg-config/consumer || fail "build by pkg-config"
[ "$(by-pkg-config/consumer)" = "42 from a worker, 7 from a program" ] || fail "the program built by pkg-config"
