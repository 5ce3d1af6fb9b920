#pragma once
// What the programs of bench/workloads and of bench/peers share, so that all of them draw the same deadlines, read the same
// clocks and print the same lines. Knows no runtime.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace looptask::bench {

using nanoseconds_count = std::int64_t;

inline constexpr nanoseconds_count one_millisecond = 1'000'000;
inline constexpr nanoseconds_count one_second = 1'000'000'000;
inline constexpr nanoseconds_count one_hour = 3600 * one_second;
inline constexpr nanoseconds_count churn_at_most = 5 * one_millisecond;
// Periodic tasks are due from so long after the start on: until then all of them can have been armed.
inline constexpr nanoseconds_count lead_time = one_second;

inline nanoseconds_count reading_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * one_second + t.tv_nsec;
}
inline nanoseconds_count monotonic_now() { return reading_of(CLOCK_MONOTONIC); }
inline nanoseconds_count process_cpu() { return reading_of(CLOCK_PROCESS_CPUTIME_ID); }
inline nanoseconds_count children_cpu() {  // of those that have been waited for
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * one_second + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

inline std::int64_t resident_bytes() {
  long size = 0;
  long resident = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &size, &resident) != 2) std::abort();
    std::fclose(file);
  }
  return resident * sysconf(_SC_PAGESIZE);
}

// SplitMix64 from seed 42.
class draws {
 public:
  std::int64_t below(std::int64_t bound) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound)); }
  std::int64_t up_to(std::int64_t most) { return 1 + below(most); }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_ = 42;
};

// One JSON object, one measurement.
class line {
 public:
  line(std::string_view workload, std::string_view peer) {
    text_.append("{\"w\":\"").append(workload).append("\",\"peer\":\"").append(peer).append("\"");
  }
  line& put(std::string_view name, double value) {
    char number[40];
    std::snprintf(number, sizeof number, "%.15g", value);
    text_.append(",\"").append(name).append("\":").append(number);
    return *this;
  }
  line& put(std::string_view name, std::int64_t value) { return put(name, static_cast<double>(value)); }
  void print() const {
    std::printf("%s}\n", text_.c_str());
    std::fflush(stdout);
  }

 private:
  std::string text_;
};

// How late things came, in nanoseconds; early is negative.
class lateness {
 public:
  explicit lateness(std::int64_t room) {
    values_.resize(static_cast<std::size_t>(room));  // its memory is touched before a clock runs
    values_.clear();
  }
  void add(nanoseconds_count late) { values_.push_back(late); }
  std::int64_t count() const { return static_cast<std::int64_t>(values_.size()); }
  void put_in(line& where, const std::string& prefix = "") {
    std::sort(values_.begin(), values_.end());
    where.put(prefix + "p50_us", at(0.5)).put(prefix + "p99_us", at(0.99)).put(prefix + "p999_us", at(0.999));
    where.put(prefix + "max_us", values_.empty() ? 0.0 : static_cast<double>(values_.back()) / 1e3);
  }

 private:
  double at(double share) const {
    if (values_.empty()) return 0;
    const auto index = static_cast<std::size_t>(share * static_cast<double>(values_.size()));
    return static_cast<double>(values_[std::min(index, values_.size() - 1)]) / 1e3;
  }
  std::vector<nanoseconds_count> values_;
};

// The gaps between the ticks of a ticker, beyond its 5 ms.
class tick_gaps {
 public:
  static constexpr nanoseconds_count period = 5 * one_millisecond;
  void tick() {
    const nanoseconds_count now = monotonic_now();
    if (last_ != 0) gaps_.add(now - last_ - period);
    last_ = now;
  }
  void put_in(line& where) { gaps_.put_in(where, "tick_"); }

 private:
  nanoseconds_count last_ = 0;
  lateness gaps_{4096};
};

// Time and processor time from its construction on.
class stopwatch {
 public:
  double wall() const { return static_cast<double>(monotonic_now() - wall_); }
  double cpu() const { return static_cast<double>(process_cpu() - cpu_); }

 private:
  nanoseconds_count wall_ = monotonic_now();
  nanoseconds_count cpu_ = process_cpu();
};

// [NUMBER...] [--only PART] [--count]
class options {
 public:
  options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      if (word == "--count") {
        count_ = true;
      } else if (word == "--only" && i + 1 < argc) {
        only_ = argv[++i];
      } else {
        numbers_.push_back(std::strtoll(argv[i], nullptr, 10));
      }
    }
  }
  std::int64_t number(std::size_t at, std::int64_t otherwise) const { return at < numbers_.size() ? numbers_[at] : otherwise; }
  bool wants(std::string_view part) const { return only_.empty() || only_ == part; }  // for a profiler, which wants one thing
  bool count() const { return count_; }

 private:
  std::vector<std::int64_t> numbers_;
  std::string only_;
  bool count_ = false;
};

}  // namespace looptask::bench
