// Streams and listeners, on a real host. They lie in the frame of the task that uses them, since they end before their loop.
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "cancellation/kind.hpp"

namespace looptask::tests {
namespace {

// Timers fire in order of their deadlines, however late: a cancellation that is due earlier comes first.
struct on_a_real_host : trial {
  using trial::trial;
  void plan(hook, hook) override {
    loop.call_later(std::chrono::milliseconds(1), [this] { complete(); });
  }
};

// Knows the other end while a wait is under way.
struct with_a_pair : on_a_real_host {
  using on_a_real_host::on_a_real_host;
  stream* other = nullptr;
  bool whole() override { return other == nullptr; }
  class pair {
   public:
    explicit pair(with_a_pair& of) : of_(of), both(make_stream_pair(of.loop)) { of_.other = &both.second; }
    ~pair() { of_.other = nullptr; }
    pair(const pair&) = delete;
    pair& operator=(const pair&) = delete;

   private:
    with_a_pair& of_;

   public:
    stream_pair both;
  };
  void fill(stream& one) {
    const std::string block(std::size_t{64} * 1024, 'x');
    while (one.open_duplex().write(block) > 0) {
    }
  }
  void drain() {
    std::array<char, std::size_t{64} * 1024> part;
    while (other != nullptr && other->open_duplex().read(part) > 0) {
    }
  }
};

struct reads final : with_a_pair {
  using with_a_pair::with_a_pair;
  task<> wait() override {
    pair here(*this);
    std::array<char, 4> got;
    static_cast<void>(co_await here.both.first.read_some(got));
  }
  void complete() override {
    if (other != nullptr) static_cast<void>(other->open_duplex().write("text"));
  }
};

template <bool all>
struct writes final : with_a_pair {
  using with_a_pair::with_a_pair;
  task<> wait() override {
    pair here(*this);
    fill(here.both.first);
    if constexpr (all)
      co_await here.both.first.write_all("x");
    else
      static_cast<void>(co_await here.both.first.write_some("x"));
  }
  void complete() override { drain(); }
};

enum class reading { some, exactly, until, line, end };

template <reading what>
struct reads_buffered final : with_a_pair {
  using with_a_pair::with_a_pair;
  task<> wait() override {
    pair here(*this);
    reader in(here.both.first);
    std::array<char, 4> got;
    if constexpr (what == reading::some) static_cast<void>(co_await in.read_some(got));
    if constexpr (what == reading::exactly) static_cast<void>(co_await in.read_exactly(4));
    if constexpr (what == reading::until) static_cast<void>(co_await in.read_until("t\n"));
    if constexpr (what == reading::line) static_cast<void>(co_await in.read_line());
    if constexpr (what == reading::end) static_cast<void>(co_await in.at_end());
  }
  void complete() override {
    if (other != nullptr) static_cast<void>(other->open_duplex().write("text\n"));
  }
};

enum class writing { drain, flush, close };

template <writing what>
struct writes_buffered final : with_a_pair {
  using with_a_pair::with_a_pair;
  task<> wait() override {
    pair here(*this);
    fill(here.both.first);
    const writer_marks marks{0, 0};
    writer out(here.both.first, marks);
    out.write("x");
    if constexpr (what == writing::drain) co_await out.drain();
    if constexpr (what == writing::flush) co_await out.flush();
    if constexpr (what == writing::close) co_await out.close();
  }
  void complete() override { drain(); }
};

struct accepts final : on_a_real_host {
  using on_a_real_host::on_a_real_host;
  std::optional<endpoint> at;
  task<> wait() override {
    listener door = listen(loop, endpoint::loopback(0));
    at = door.local();
    const stream came = co_await door.accept();
    at.reset();
  }
  void complete() override {
    if (at) spawn(loop, knocks(*at), [](outcome<>) {});  // refused, if nobody listens any more
  }
  static task<> knocks(endpoint to) { const stream one = co_await connect(std::move(to)); }
};

struct connects final : on_a_real_host {
  using on_a_real_host::on_a_real_host;
  task<> wait() override {
    const listener door = listen(loop, endpoint::loopback(0));
    const stream one = co_await connect(door.local());
  }
};

kind real(std::string name, std::vector<std::string> covers, decltype(kind::make) make) {
  kind one{std::move(name), std::move(covers), std::move(make)};
  one.real = true;
  one.timed = false;
  return one;
}

}  // namespace

void add_network_kinds(std::vector<kind>& to) {
  to.push_back(real("stream_read_some", {"stream.hpp read_some", "stream.hpp read_await"}, making<reads>()));
  to.push_back(real("stream_write_some", {"stream.hpp write_some", "stream.hpp write_await"}, making<writes<false>>()));
  to.push_back(real("stream_write_all", {"stream.hpp write_all", "stream.hpp write_all_await"}, making<writes<true>>()));
  to.push_back(real("reader_read_some", {"reader.hpp read_some"}, making<reads_buffered<reading::some>>()));
  to.push_back(real("reader_read_exactly", {"reader.hpp read_exactly"}, making<reads_buffered<reading::exactly>>()));
  to.push_back(real("reader_read_until", {"reader.hpp read_until"}, making<reads_buffered<reading::until>>()));
  to.push_back(real("reader_read_line", {"reader.hpp read_line"}, making<reads_buffered<reading::line>>()));
  to.push_back(real("reader_at_end", {"reader.hpp at_end"}, making<reads_buffered<reading::end>>()));
  to.push_back(real("writer_drain", {"writer.hpp drain", "writer.hpp drain_await"}, making<writes_buffered<writing::drain>>()));
  to.push_back(real("writer_flush", {"writer.hpp flush"}, making<writes_buffered<writing::flush>>()));
  to.push_back(real("writer_close", {"writer.hpp close"}, making<writes_buffered<writing::close>>()));
  to.push_back(real("listener_accept", {"listener.hpp accept", "listener.hpp accept_await"}, making<accepts>()));
  to.push_back(real("connect", {"connect.hpp connect"}, making<connects>()));
  to.back().waits = false;  // on the loopback it is there before anybody could cancel it
}

}  // namespace looptask::tests
