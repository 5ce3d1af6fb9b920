#include "schedule/instant_text.hpp"

#include <cstdio>

#include "base/printable.hpp"
#include "schedule/civil.hpp"

namespace looptask::schedule {

namespace {

// Reads a text from left to right; once something does not fit, all that follows fails.
class reader {
 public:
  explicit reader(std::string_view text) : rest_(text) {}
  int number(std::size_t digits) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') return good_ = false, 0;
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }
  char one_of(std::string_view choices) {
    if (rest_.empty() || choices.find(rest_.front()) == std::string_view::npos) return good_ = false, '\0';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  bool at(char c) const { return !rest_.empty() && rest_.front() == c; }
  bool at_digit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }
  bool good() const { return good_; }
  bool good_to_the_end() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

// "." and digits, as microseconds; what follows the sixth digit is cut.
std::int64_t read_fraction(reader& in) {
  in.one_of(".");
  std::int64_t micros = in.number(1) * 100'000;
  for (std::int64_t worth = 10'000; in.at_digit() && in.good(); worth /= 10) micros += in.number(1) * worth;
  return micros;
}

}  // namespace

result<instant> parse_instant(std::string_view text) {
  reader in(text);
  civil c;
  c.year = in.number(4);
  in.one_of("-");
  c.month = in.number(2);
  in.one_of("-");
  c.day = in.number(2);
  in.one_of("Tt ");
  c.hour = in.number(2);
  in.one_of(":");
  c.minute = in.number(2);
  in.one_of(":");
  c.second = in.number(2);
  const std::int64_t micros = in.at('.') ? read_fraction(in) : 0;
  std::int64_t offset = 0;
  const char zone = in.one_of("Zz+-");
  if (zone == '+' || zone == '-') {
    const int hours = in.number(2);
    in.one_of(":");
    const int minutes = in.number(2);
    if (hours > 23 || minutes > 59) in.one_of("");
    offset = (zone == '+' ? 1 : -1) * (hours * 3'600 + minutes * 60);
  }
  if (!in.good_to_the_end()) {
    return error{in_quotes(text) + " is no instant; write RFC 3339 with Z or an offset, as 2026-03-29T01:00:00Z"};
  }
  if (c.month < 1 || c.month > 12 || c.day < 1 || c.day > days_in_month(c.year, c.month) || c.hour > 23 || c.minute > 59 ||
      c.second > 59) {
    return error{in_quotes(text) + " is no instant: there is no such date or time of day"};
  }
  return instant(std::chrono::seconds(wall_of(c) - offset) + microseconds(micros));
}

std::string instant_text(instant when, fraction digits) {
  const auto second = std::chrono::floor<std::chrono::seconds>(when);
  const auto millis = std::chrono::floor<std::chrono::milliseconds>(when - second).count();
  const civil c = civil_of(second.time_since_epoch().count());
  char text[64];
  int length = std::snprintf(text, sizeof text, "%04lld-%02d-%02dT%02d:%02d:%02d", static_cast<long long>(c.year), c.month,
                             c.day, c.hour, c.minute, c.second);
  if (digits == fraction::milliseconds || (digits == fraction::milliseconds_if_any && millis != 0)) {
    length += std::snprintf(text + length, sizeof text - static_cast<std::size_t>(length), ".%03d", static_cast<int>(millis));
  }
  return std::string(text, static_cast<std::size_t>(length)) + 'Z';
}

}  // namespace looptask::schedule
