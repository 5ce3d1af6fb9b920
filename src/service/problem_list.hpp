#pragma once
// Collects what is wrong with one file while it is read. Pure; one thread.
#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "service/configuration.hpp"
#include "service/toml_document.hpp"

namespace looptask::service {

class problem_list {
 public:
  explicit problem_list(std::string file) : file_(std::move(file)) {}

  void error(position at, std::string key, std::string message) {
    errors_.push_back({file_, at.line, at.column, std::move(key), std::move(message), ""});
  }
  void warning(position at, std::string key, std::string message, std::string warning_class) {
    warnings_.push_back({file_, at.line, at.column, std::move(key), std::move(message), std::move(warning_class)});
  }
  bool ok() const noexcept { return errors_.empty(); }

  std::vector<problem> take_errors() { return in_order(std::move(errors_)); }
  std::vector<problem> take_warnings() { return in_order(std::move(warnings_)); }

 private:
  static std::vector<problem> in_order(std::vector<problem> list) {
    std::sort(list.begin(), list.end(), [](const problem& a, const problem& b) {
      return std::tie(a.line, a.column, a.key, a.message) < std::tie(b.line, b.column, b.key, b.message);
    });
    return list;
  }

  std::string file_;
  std::vector<problem> errors_, warnings_;
};

}  // namespace looptask::service
