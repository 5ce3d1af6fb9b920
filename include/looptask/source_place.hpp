#pragma once
// A place in somebody's source, taken where a default argument is. As std::source_location, which not every compiler has that
// can read these headers (clang before 16). A plain value; any thread.
//
//   void start(work w, looptask::source_place by = looptask::source_place::current());   // `by`: who called start
#include <cstdint>

namespace looptask {

class source_place {
 public:
  static constexpr source_place current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                                        std::uint_least32_t line = __builtin_LINE()) noexcept {
    return {file, function, line};
  }
  constexpr source_place() noexcept = default;  // no place: empty names, line 0

  constexpr const char* file_name() const noexcept { return file_; }  // of static storage, as the other
  constexpr const char* function_name() const noexcept { return function_; }
  constexpr std::uint_least32_t line() const noexcept { return line_; }

 private:
  constexpr source_place(const char* file, const char* function, std::uint_least32_t line) noexcept
      : file_(file), function_(function), line_(line) {}

  const char* file_ = "";
  const char* function_ = "";
  std::uint_least32_t line_ = 0;
};

}  // namespace looptask
