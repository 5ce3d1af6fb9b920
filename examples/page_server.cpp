// page-server PORT-FILE PAGES: serves a small page on a loopback port that the system chooses, and writes the number of that
// port to PORT-FILE. Ends by itself after so many pages, as if it had crashed, and on SIGTERM.
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>
#include <looptask/scope.hpp>
#include <looptask/task.hpp>
#include <looptask/task_group.hpp>

#include "socket.hpp"

namespace {

using examples::socket;
using looptask::task;
using namespace std::chrono_literals;

// Whoever reads the file finds the old number or the new one, never half of it.
void announce(const std::filesystem::path& file, std::uint16_t port) {
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  const std::filesystem::path fresh = file.string() + ".new";
  std::ofstream out(fresh);
  out << port << '\n';
  out.close();
  if (!out) throw std::runtime_error("cannot write " + fresh.string());
  std::filesystem::rename(fresh, file);
}

task<void> answer(socket connection, int number) {
  std::string request;
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < 8192) {
    const std::string more = co_await connection.read_some();
    if (more.empty()) co_return;
    request += more;
  }
  const std::string page = "<!doctype html><title>LoopTask</title><p>This is page " + std::to_string(number) + ".</p>\n";
  const bool known = request.starts_with("GET / HTTP/1.");
  const std::string body = known ? page : "there is only one page: GET /\n";
  std::string reply = known ? "HTTP/1.0 200 OK\r\n" : "HTTP/1.0 404 Not Found\r\n";
  reply += "Content-Type: text/html; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  co_await connection.write_all(std::move(reply));
}

// One client's trouble is its own.
task<void> serve(socket connection, int number) {
  try {
    co_await looptask::with_timeout(5s, answer(std::move(connection), number));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "page %d: %s\n", number, error.what());
  }
}

task<void> listen(std::string port_file, int pages) {
  const socket listener = socket::listen_on_loopback();
  announce(port_file, listener.port());
  std::printf("serving %d pages on 127.0.0.1:%u\n", pages, unsigned{listener.port()});
  std::fflush(stdout);
  auto body = [&listener, pages](looptask::task_group& group) -> task<void> {
    for (int number = 1; number <= pages; ++number) {
      socket connection = co_await listener.accept();
      group.start(serve(std::move(connection), number));
    }
  };
  co_await looptask::with_task_group(std::move(body));
}

}  // namespace

int main(int argc, char** argv) {
  const int pages = argc == 3 ? std::atoi(argv[2]) : 0;
  if (pages < 1) {
    std::fprintf(stderr, "usage: page-server PORT-FILE PAGES\n");
    return 2;
  }
  try {
    looptask::real_host host;
    looptask::loop loop(host);
    host.signals().watch(SIGTERM, [&loop](int) { loop.stop(); });
    loop.run(listen(argv[1], pages));
  } catch (const looptask::cancelled&) {
    std::printf("stopped\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "page-server: %s\n", error.what());
    return 1;
  }
}
