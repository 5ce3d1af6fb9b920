#!/bin/sh
# checks_test.sh SOURCE CHECK: each check of tools/lint lets a small clean tree pass and refuses it with each planted fault.
set -eu
source=$1
check=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# A tree that all checks let pass.
clean_tree() {
  rm -rf "$tree"
  mkdir -p "$tree/include/looptask" "$tree/src/base" "$tree/src/schedule" "$tree/src/engine" "$tree/docs" "$tree/tools"
  cp "$source/.clang-format" "$source/.clang-tidy" "$tree"
  cp "$source/docs/architecture.md" "$tree/docs"
  printf '#pragma once\n#include <string>\n\nnamespace looptask {\nstd::string a();\n}\n' >"$tree/include/looptask/result.hpp"
  printf '#pragma once\n#include <looptask/result.hpp>\n' >"$tree/src/schedule/b.hpp"
  printf '#include "schedule/b.hpp"\n\n#include <vector>\n' >"$tree/src/engine/c.cpp"
  # shellcheck disable=SC2016
  printf '#!/bin/sh\necho "$1"\n' >"$tree/tools/script"
}

says() { "$source/tools/lint/$check" "$tree" "$work/build"; }

passes() {
  says >"$work/said" 2>&1 || fail "$1 was refused: $(cat "$work/said")"
}

# refused WHAT SAYS
refused() {
  if says >"$work/said" 2>&1; then fail "$1 passed"; fi
  grep -qF -- "$2" "$work/said" || fail "$1 was refused without '$2': $(cat "$work/said")"
  clean_tree
}

clean_tree
case $check in
  format)
    passes "a clean tree"
    printf 'int  a( );\n' >"$tree/src/base/a.cpp"
    refused "a badly laid out file" "src/base/a.cpp:1"
    ;;
  headers)
    passes "a clean tree"
    for header in functional regex iostream fmt/format.h sys/epoll.h; do
      printf '#pragma once\n#include <%s>\n' "$header" >"$tree/include/looptask/a.hpp"
      refused "a public header with <$header>" "include/looptask/a.hpp:2: includes"
    done
    printf '#pragma once\n#include "result.hpp"\n' >"$tree/include/looptask/a.hpp"
    refused "a public header with a quoted include" "include/looptask/a.hpp:2: includes result.hpp"
    printf '#pragma once\nstd::vector<int> a();\n' >"$tree/include/looptask/a.hpp"
    refused "a public header that leans on others" "include/looptask/a.hpp: does not compile alone"
    printf '#pragma once\nstd::vector<int> a();\n' >"$tree/src/base/a.hpp"
    refused "an internal header that leans on others" "src/base/a.hpp: does not compile alone"
    printf 'struct a {};\n' >"$tree/include/looptask/a.hpp"
    refused "a header without a guard" "include/looptask/a.hpp:1: starts"
    { echo '#pragma once' && yes '// long' | head -n 300; } >"$tree/include/looptask/a.hpp"
    refused "a long public header" "301 lines"
    rm -r "$tree/include" "$tree/src"
    refused "an empty tree" "nothing was checked"
    ;;
  header_cost)
    all=$tree/include/looptask/looptask.hpp
    printf '#pragma once\n#include <looptask/result.hpp>\n' >"$all"
    passes "a clean tree"
    grep -qE '^looptask.hpp: [0-9,]+ lines, [0-9.]+ s of CPU$' "$work/said" || fail "no figures: $(cat "$work/said")"
    { cat "$all" && yes 'int f();' | head -n 60000; } >"$work/long" && mv "$work/long" "$all"
    refused "sixty thousand lines" "every user pays for them, at most 60,000 are allowed"
    echo 'int a' >"$all"
    refused "a header that does not compile" "does not compile alone"
    ;;
  layers)
    passes "a clean tree"
    printf '#include "engine/c.hpp"\n' >"$tree/src/schedule/a.cpp"
    refused "schedule that knows engine" "src/schedule/a.cpp:1: includes engine/c.hpp: layer schedule must not know engine"
    printf '#include <looptask/loop.hpp>\n' >"$tree/src/schedule/a.cpp"
    refused "schedule that knows loop" "layer schedule must not know loop"
    printf '#pragma once\n#include <looptask/host.hpp>\n' >"$tree/include/looptask/result.hpp"
    refused "a public header of base that knows host" "include/looptask/result.hpp:2"
    printf '#include <fmt/format.h>\n' >"$tree/src/engine/a.cpp"
    refused "a library in the wrong layer" "layer engine uses no fmt"
    printf '#include <sqlite3.h>\n' >"$tree/src/engine/a.cpp"
    refused "SQLite in the wrong layer" "layer engine uses no sqlite3"
    printf '#include <looptask/nobody.hpp>\n' >"$tree/src/engine/a.cpp"
    refused "a header without a layer" "without a row in the table"
    mkdir "$tree/src/helpers" && echo 'int a;' >"$tree/src/helpers/a.cpp"
    refused "a folder without a layer" "src/helpers/a.cpp: belongs to no layer"
    : >"$tree/docs/architecture.md"
    refused "a tree without a table" "nothing was checked"
    ;;
  coroutines)
    passes "a clean tree"
    plant() { printf '%s\n' "$1" >"$tree/src/engine/a.cpp"; }
    plant 'void f(int x) { auto t = [x]() -> task<void> { co_await g(x); }(); }'
    refused "a capturing coroutine lambda called at once" "src/engine/a.cpp:1: a capturing coroutine lambda called where"
    plant 'task<void> f(int x) { co_await [&x]() -> task<void> { co_return; }(); }'
    refused "the same by reference under co_await" "called where it is written"
    plant 'task<void> f(int x) { auto body = [x]() -> task<void> { co_await g(x); }; return body(); }'
    refused "a captured local returned as a task" "the captures of body die"
    plant 'void f(int x) { auto body = [&] { co_return; }; group.spawn(body()); }'
    refused "a captured local spawned as a task" "the captures of body die"
    plant 'task<void> f(std::string x) { co_await each([x](int i) { use(x, i); }); }'
    refused "a by-value capture in an expression with co_await" "captures by value inside an expression with co_await"
    plant 'task<void> f(std::string x) { auto use_it = [x](int i) { use(x, i); }; co_await each(std::move(use_it)); }'
    passes "a lambda that was named first"
    plant 'void f(int x) { group.spawn([x]() -> task<void> { co_await g(x); }); }'
    passes "a lambda moved into spawn"
    plant 'void f(int x) { loop.run([&x]() -> task<void> { co_await g(x); }()); }'
    passes "a lambda called in the argument of run"
    plant 'void f() { auto t = []() -> task<void> { co_return; }(); }  // [x]() { co_await }()'
    passes "a lambda without captures"
    plant 'void f(int x) { int a[3] = {}; a[x] = 1; const auto [p, q] = g(a[0]); [[maybe_unused]] auto s = "[x] { co_await y; }()"; }'
    passes "brackets that are no lambdas"
    plant 'void f(int x) { [x] { return [](int y) -> task<void> { co_return; }; }(); }'
    passes "a plain lambda around a coroutine lambda without captures"
    rm -r "$tree/src" "$tree/include"
    refused "an empty tree" "nothing was checked"
    ;;
  tidy)
    mkdir "$work/build"
    export XDG_CACHE_HOME="$work/cache"
    file=$tree/src/engine/c.cpp
    printf '[{"directory": "%s", "command": "g++ -std=c++20 -I%s/include -I%s/src -c %s", "file": "%s"}]\n' \
      "$tree" "$tree" "$tree" "$file" "$file" >"$work/build/compile_commands.json"
    passes "a clean tree"
    passes "a clean tree that is known"
    [ "$(find "$work/cache" -type f | wc -l)" -eq 1 ] || fail "the second look was not saved"
    printf 'int CamelCase() { return 1; }\n' >"$file"
    refused "a name in another style" "readability-identifier-naming"
    printf '#pragma once\n#include <looptask/result.hpp>\nclass a {\n  int b = 1;\n};\n' >"$tree/src/schedule/b.hpp"
    refused "a fault in a header of ours" "src/schedule/b.hpp:4"
    ;;
  words)
    passes "a clean tree"
    for planted in 'cd /wo''rk/main' '// TO''DO: later' '// FIX''ME' 'x = 1; '; do
      printf '%s\n' "$planted" >"$tree/src/base/a.cpp"
      refused "'$planted'" "src/base/a.cpp:1:"
    done
    ;;
  shell)
    passes "a clean tree"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nrm -rf $1/*\n' >"$tree/tools/script"
    refused "an unquoted argument" "SC2086"
    ;;
esac
exit 0
