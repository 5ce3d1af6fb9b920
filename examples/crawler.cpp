// crawler ADDRESS PAGES AT-ONCE: fetches pages from one HTTP server, PAGES times the page "/", with at most AT-ONCE connections
// at the same time. Prints how many came and how many were on their way at once. Fails with 1 if one did not come.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include <looptask/looptask.hpp>

namespace {

using looptask::task;
using namespace std::chrono_literals;

constexpr std::size_t largest_page = std::size_t{1} << 20U;

struct progress {
  int on_their_way = 0;
  int most = 0;
  int came = 0;
  int failed = 0;
};

task<std::string> fetch(looptask::endpoint server) {
  looptask::stream connection = co_await looptask::connect(server);
  co_await connection.write_all("GET / HTTP/1.0\r\n\r\n");
  std::string page;
  char part[4096];
  while (page.size() < largest_page) {
    const std::size_t size = co_await connection.read_some(part);
    if (size == 0) break;
    page.append(part, size);
  }
  co_return page;
}

task<> fetch_one(looptask::endpoint server, looptask::semaphore::permit permit, progress& all) {
  ++all.on_their_way;
  if (all.on_their_way > all.most) all.most = all.on_their_way;
  try {
    const std::string page = co_await looptask::with_timeout(5s, fetch(std::move(server)));
    ++(page.starts_with("HTTP/1.0 200 ") ? all.came : all.failed);
  } catch (const std::exception& error) {
    ++all.failed;
    std::fprintf(stderr, "%s\n", error.what());
  }
  --all.on_their_way;
  permit.release();
}

task<> crawl(looptask::endpoint server, int pages, std::size_t at_once, progress& all) {
  looptask::semaphore doors(at_once);
  auto body = [&](looptask::task_group& group) -> task<> {
    for (int i = 0; i < pages; ++i) {
      auto permit = co_await doors.acquire();
      group.start(fetch_one(server, std::move(permit), all));
    }
  };
  co_await looptask::with_task_group(std::move(body));
}

}  // namespace

int main(int argc, char** argv) {
  const auto server = looptask::endpoint::parse(argc > 1 ? argv[1] : "");
  const int pages = argc == 4 ? std::atoi(argv[2]) : 0;
  const int at_once = argc == 4 ? std::atoi(argv[3]) : 0;
  if (!server || pages < 1 || at_once < 1) {
    std::fprintf(stderr, "usage: crawler ADDRESS PAGES AT-ONCE\n");
    return 2;
  }
  looptask::real_host host;
  looptask::loop loop(host);
  progress all;
  loop.run(crawl(server.value(), pages, static_cast<std::size_t>(at_once), all));
  std::printf("%d pages, %d failed, at most %d at once\n", all.came, all.failed, all.most);
  return all.failed == 0 ? 0 : 1;
}
