#pragma once
// The side log: what the job scripts of these tests wrote themselves, independent of LoopTask. One line each,
// "JOB NOMINAL ATTEMPT RUN_ID WORD", synced by the script before it goes on. WORD is begin, end, or overlap (another process of
// the same job was alive at the begin).
#include <chrono>
#include <string>
#include <vector>

namespace looptask::tests {

struct side_line {
  std::string job;
  std::string nominal;
  std::string attempt;
  std::string run_id;
  std::string word;
};

// Throws std::runtime_error on a line that is not of that form.
std::vector<side_line> parse_side_log(const std::string& text);

// Follows the file while others write to it.
class side_log {
 public:
  explicit side_log(std::string path);  // creates the file
  side_log(const side_log&) = delete;
  side_log& operator=(const side_log&) = delete;
  ~side_log();

  const std::vector<side_line>& lines() const noexcept { return lines_; }
  // Reads on, waiting for changes of the file, until `enough(lines())` holds. False after `bound` without it.
  template <class Predicate>
  bool wait_until(std::chrono::milliseconds bound, Predicate enough) {
    const auto end = std::chrono::steady_clock::now() + bound;
    while (true) {
      read_more();
      if (enough(lines_)) return true;
      if (!wait_for_change(end)) return false;
    }
  }
  void read_more();  // whole lines only

 private:
  bool wait_for_change(std::chrono::steady_clock::time_point end);

  int file_ = -1;
  int changes_ = -1;
  std::string rest_;
  std::vector<side_line> lines_;
};

}  // namespace looptask::tests
