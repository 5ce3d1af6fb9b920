// A program that knows the library only as installed.
#include <cstdio>
#include <utility>

#include <looptask/looptask.hpp>

namespace {

looptask::task<int> from_a_program() {
  looptask::process_spec spec{.argv = {"sh", "-c", "exit 7"}, .env = {"PATH=/usr/bin:/bin"}, .workdir = "/"};
  const looptask::process_result how = co_await looptask::run_process(std::move(spec));
  co_return how.exit.code.value_or(-1);
}

looptask::task<> all() {
  const auto answer = [] { return 42; };
  const int worked = co_await looptask::run_blocking(answer);
  const int ended = co_await from_a_program();
  std::printf("%d from a worker, %d from a program\n", worked, ended);
}

}  // namespace

int main() {
  looptask::real_host host;
  looptask::loop loop(host);
  loop.run(all());
}
