// fetch-page PORT-FILE: reads the number of a loopback port from the file, asks there for a page and prints how it went. Fails
// with 1 when nobody serves there yet, so that whoever calls it may try again.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>
#include <looptask/scope.hpp>
#include <looptask/task.hpp>

#include "socket.hpp"

namespace {

using examples::socket;
using looptask::task;
using namespace std::chrono_literals;

std::uint16_t read_port(const std::string& file) {
  std::ifstream in(file);
  std::uint16_t port = 0;
  if (!(in >> port) || port == 0) throw std::runtime_error("no port in " + file + ": the server has not been up yet");
  return port;
}

task<std::string> fetch(std::uint16_t port) {
  const socket connection = co_await socket::connect_to(port);
  co_await connection.write_all("GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
  std::string reply;
  while (true) {
    const std::string more = co_await connection.read_some();
    if (more.empty()) co_return reply;
    reply += more;
  }
}

task<std::string> fetch_soon(std::uint16_t port) { co_return co_await looptask::with_timeout(1s, fetch(port)); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fetch-page PORT-FILE\n");
    return 2;
  }
  try {
    looptask::real_host host;
    looptask::loop loop(host);
    const std::string reply = loop.run(fetch_soon(read_port(argv[1])));
    std::printf("%zu bytes: %s\n", reply.size(), reply.substr(0, reply.find("\r\n")).c_str());
    return reply.starts_with("HTTP/1.0 200 ") ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fetch-page: %s\n", error.what());
    return 1;
  }
}
