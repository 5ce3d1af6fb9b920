#pragma once
// UTF-8, one character at a time. Pure; any thread.
//
//   const auto c = first_character("\xC3\xA4z");  // 2 bytes, U+00E4
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace looptask {

struct utf8_character {
  std::size_t bytes = 0;  // 0: no UTF-8 (a stray byte, a surrogate, longer than it must be, cut), or no text
  char32_t code = 0;
};

utf8_character first_character(std::string_view text) noexcept;

}  // namespace looptask
