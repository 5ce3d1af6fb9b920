#pragma once
// What the programs of bench/ share: rounds that alternate between peers, medians, and one JSON line for each result.
// One thread.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace looptask::bench {

using figures = std::vector<std::pair<std::string, double>>;

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// User and system time, in microseconds, of this thread or (RUSAGE_SELF) the whole process.
inline double cpu_microseconds(int whose) {
  rusage used{};
  getrusage(whose, &used);
  const auto us = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
  return us(used.ru_utime) + us(used.ru_stime);
}

inline double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

inline void print(const std::string& bench, const std::string& peer, const std::string& kind, const figures& values) {
  std::printf("{\"bench\":\"%s\",\"peer\":\"%s\",\"of\":\"%s\"", bench.c_str(), peer.c_str(), kind.c_str());
  for (const auto& [name, value] : values) std::printf(",\"%s\":%.6g", name.c_str(), value);
  std::printf("}\n");
  std::fflush(stdout);
}

// One contender: its name, and a function that runs one round and returns its figures, always the same ones.
template <class Round>
struct peer {
  std::string name;
  Round round;
};

// Runs all peers `rounds` times, in turn, and prints each round, then the medians of each peer and of the ratios of the first
// to each other one (of figures that both have) within one round.
template <class Round>
void compare(const std::string& bench, int rounds, std::vector<peer<Round>> peers) {
  std::vector<std::vector<figures>> seen(peers.size());
  for (int i = 0; i < rounds; ++i) {
    for (std::size_t p = 0; p < peers.size(); ++p) {
      seen[p].push_back(peers[p].round());
      print(bench, peers[p].name, "round", seen[p].back());
    }
  }
  const auto median = [rounds](auto value_of_round) {
    std::vector<double> values;
    for (int i = 0; i < rounds; ++i) values.push_back(value_of_round(static_cast<std::size_t>(i)));
    return percentile(std::move(values), 0.5);
  };
  for (std::size_t p = 0; p < peers.size(); ++p) {
    figures middle;
    for (std::size_t f = 0; f < seen[p][0].size(); ++f) {
      middle.emplace_back(seen[p][0][f].first, median([&](std::size_t i) { return seen[p][i][f].second; }));
    }
    print(bench, peers[p].name, "median", middle);
  }
  for (std::size_t p = 1; p < peers.size(); ++p) {
    figures ratios;
    for (std::size_t f = 0; f < seen[0][0].size(); ++f) {
      for (std::size_t g = 0; g < seen[p][0].size(); ++g) {
        if (seen[0][0][f].first != seen[p][0][g].first) continue;
        ratios.emplace_back(seen[0][0][f].first, median([&](std::size_t i) {
                              const double other = seen[p][i][g].second;
                              return other == 0 ? 0 : seen[0][i][f].second / other;
                            }));
      }
    }
    print(bench, peers[0].name + " / " + peers[p].name, "median ratio", ratios);
  }
}

inline void print_command(int argc, char** argv) {
  std::printf("command:");
  for (int i = 0; i < argc; ++i) std::printf(" %s", argv[i]);
  std::printf("\n");
}

inline std::int64_t argument(int argc, char** argv, int at, std::int64_t otherwise) {
  return at < argc ? std::strtoll(argv[at], nullptr, 10) : otherwise;
}

}  // namespace looptask::bench
