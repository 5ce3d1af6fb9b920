#include "base/thrown_text.hpp"

#include <algorithm>

namespace looptask {

std::string thrown_text(const std::exception_ptr& thrown) {
  std::string text;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "an exception that is no std::exception";
  }
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  if (text.empty()) text = "an exception without a text";
  return text;
}

}  // namespace looptask
