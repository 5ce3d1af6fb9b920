#include "base/utf8.hpp"

namespace looptask {

utf8_character first_character(std::string_view text) noexcept {
  if (text.empty()) return {};
  const auto byte = [&](std::size_t i) -> char32_t { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : (lead & 0xF0U) == 0xE0       ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  char32_t code = length == 2 ? lead & 0x1FU : length == 3 ? lead & 0x0FU : lead & 0x07U;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool no_character = (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF;
  return length == 0 || too_long || no_character ? utf8_character{} : utf8_character{length, code};
}

}  // namespace looptask
