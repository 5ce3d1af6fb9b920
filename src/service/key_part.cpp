#include "service/key_part.hpp"

#include "base/printable.hpp"

namespace looptask::service {

std::string key_part(std::string_view name) {
  bool bare = !name.empty();
  for (const char c : name)
    bare = bare && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-');
  return bare ? std::string(name) : in_quotes(name);
}

}  // namespace looptask::service
