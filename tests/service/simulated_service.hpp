#pragma once
// The whole service in virtual time: its loop, a memory ledger that outlives it, and its log as lines.
#include <looptask/loop.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "ledger/ledger.hpp"
#include "service/configuration.hpp"
#include "service/event_log.hpp"
#include "service/service.hpp"
#include "sim/world.hpp"

namespace looptask::service {

class line_collector final : public log_sink {
 public:
  void write(instant, std::string_view line) noexcept override { lines.emplace_back(line.substr(0, line.size() - 1)); }
  std::uint64_t dropped() const noexcept override { return 0; }

  // How many lines hold all of these texts.
  int count(const std::vector<std::string>& parts) const {
    int found = 0;
    for (const auto& line : lines) {
      bool all = true;
      for (const auto& part : parts) all = all && line.find(part) != std::string::npos;
      found += all ? 1 : 0;
    }
    return found;
  }
  std::string all() const {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
  }

  std::vector<std::string> lines;
};

// One life of a service, from start to its end.
struct simulated_life {
  simulated_life(sim::world& world, const std::string& text, run_options how = {}, log_form form = log_form::text)
      : home(world), history(ledger::make_memory_store(home)) {
    auto loaded = read_configuration(text, "jobs.toml", "/srv", world.wall_now());
    for (const auto& p : loaded.errors) throw std::runtime_error(p.to_string());
    how.data_directory = "/data";
    log.emplace(lines, form, loaded.value->zone);
    service.emplace(home, *history, std::move(*loaded.value), std::move(how), *log);
  }

  // Until the service has stopped.
  void run() {
    service->start([this] {
      ended = true;
      home.stop();
    });
    home.run();
  }

  loop home;
  std::unique_ptr<ledger::store> history;
  line_collector lines;
  std::optional<event_log> log;
  std::optional<looptask::service::service> service;
  bool ended = false;
};

}  // namespace looptask::service
