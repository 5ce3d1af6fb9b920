#!/bin/sh
# ports_test.sh SOURCE CXX PART: the lint of the ports refuses each planted call and lets clean code pass.
set -eu
source=$1
cxx=$2
part=$3
lint=$source/tools/lint/ports
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

case $part in
  calls) # real calls through the real headers, with the checked variants of libc
    grep -v '^#' "$source/tests/lint/planted_calls.txt" >"$work/calls"
    n=100
    while IFS='|' read -r headers expression symbol; do
      n=$((n + 1))
      for header in $headers; do echo "#include <$header>"; done >"$work/$n.cpp"
      echo "void planted() { $expression; }" >>"$work/$n.cpp"
      echo "-std=c++20 -c -w -O2 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 -o $work/$n.o $work/$n.cpp"
    done <"$work/calls" >"$work/commands"
    [ "$n" -ge 200 ] || fail "only $((n - 100)) planted calls"
    xargs -P 2 -L 1 "$cxx" <"$work/commands" || fail "the planted calls do not compile"
    "$lint" --objects "$work"/*.o >"$work/said" && fail "nothing was refused"
    n=100
    while IFS='|' read -r headers expression symbol; do
      n=$((n + 1))
      grep -F "/$n.o: calls " "$work/said" | grep -qF "$symbol" || fail "not refused: $expression"
    done <"$work/calls"
    "$lint" --objects "$work/101.o" >/dev/null && fail "one object alone was not refused"
    ;;
  names) # every name of the list, called by an object of its own
    sed '/^#/d; s/^[a-z]* //' "$source/tools/lint/forbidden_symbols" | tr ' ' '\n' | grep -v '[^A-Za-z0-9_]' >"$work/names"
    while read -r name; do
      printf '.text\ncall %s\n' "$name" >"$work/$name.s"
      printf '%s\n' "-o $work/$name.o $work/$name.s"
    done <"$work/names" >"$work/commands"
    xargs -P 2 -L 1 as <"$work/commands"
    "$lint" --objects "$work"/*.o >"$work/said" && fail "nothing was refused"
    while read -r name; do
      grep -qF "/$name.o: calls $name (" "$work/said" || fail "not refused: $name"
    done <"$work/names"
    ;;
  clean) # what any code may call
    cat >"$work/clean.cpp" <<'END'
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
struct port { virtual long read(int) = 0; virtual void open(const char*) = 0; virtual ~port() = default; };
std::string clean(port& through, std::mutex& mutex, std::vector<int>& values) {
  const std::lock_guard hold(mutex);
  values.push_back(static_cast<int>(through.read(1)));
  through.open("a");
  std::ostringstream text;
  text << std::filesystem::path("/a") / "b" << std::chrono::milliseconds(5).count() << std::this_thread::get_id();
  std::fprintf(stderr, "%s", text.str().c_str());
  return text.str();
}
END
    for level in -O0 -O2; do
      "$cxx" -std=c++20 -c $level -o "$work/clean.o" "$work/clean.cpp"
      "$lint" --objects "$work/clean.o" || fail "clean code was refused"
    done
    ;;
  tree) # over a tree: ports may, others may not, and an object that is missing is not taken for a clean one
    mkdir -p "$work/src/host" "$work/src/cli" "$work/src/engine" "$work/build/CMakeFiles/x.dir/src/host" \
      "$work/build/CMakeFiles/x.dir/src/engine" "$work/build/CMakeFiles/x.dir/src/cli"
    echo '#include <unistd.h>
    void planted() { fsync(1); }' >"$work/src/host/a.cpp"
    cp "$work/src/host/a.cpp" "$work/src/cli/console.cpp"
    echo 'int clean() { return 1; }' >"$work/src/engine/b.cpp"
    compile() { "$cxx" -c -o "$work/build/CMakeFiles/x.dir/src/$1.o" "$work/src/$1"; }
    compile host/a.cpp
    compile cli/console.cpp
    "$lint" "$work" "$work/build" >"$work/said" && fail "a source that was not compiled passed"
    grep -q '^src/engine/b.cpp: not compiled' "$work/said" || fail "$(cat "$work/said")"
    compile engine/b.cpp
    "$lint" "$work" "$work/build" || fail "a port was refused"
    cp "$work/src/host/a.cpp" "$work/src/engine/b.cpp"
    compile engine/b.cpp
    "$lint" "$work" "$work/build" >"$work/said" && fail "fsync outside the ports passed"
    grep -q '^src/engine/b.cpp: calls fsync (file)' "$work/said" || fail "$(cat "$work/said")"
    ;;
  excused) # an inline function of CLI11 is excused where it stands, a call beside it is not
    mkdir -p "$work/src/cli" "$work/build/CMakeFiles/x.dir/src/cli"
    object=$work/build/CMakeFiles/x.dir/src/cli/command_line.cpp.o
    source_file=$work/src/cli/command_line.cpp
    printf '%s\n' '#include <cstdio>' 'namespace CLI { [[gnu::noinline]] inline bool any(const char* p) { return std::fopen(p, "r"); } }' \
      'bool use(const char* p) { return CLI::any(p); }' >"$source_file"
    "$cxx" -std=c++20 -c -O2 -o "$object" "$source_file"
    "$lint" "$work" "$work/build" || fail "an excused function was refused"
    echo 'bool ours(const char* p) { return std::fopen(p, "w"); }' >>"$source_file"
    "$cxx" -std=c++20 -c -O2 -o "$object" "$source_file"
    "$lint" "$work" "$work/build" >/dev/null && fail "our own call was excused"
    ;;
esac
exit 0
