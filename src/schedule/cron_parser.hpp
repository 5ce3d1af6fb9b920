#pragma once
// The grammar of cron expressions. One parser reads one text, once; it never looks at a byte more than a few times, refuses
// long texts, and keeps the first fault it meets. Used by cron_expression::parse only; any thread.
//
//   field      element {"," element}
//   element    ("*" | value | value "-" value) ["/" step]     all fields
//              "L" | "L-n" | "nW" | "LW"                       day of month
//              value "L" | value "#" k                         day of week
#include <string>
#include <string_view>

#include "schedule/cron.hpp"

namespace looptask::schedule {

class cron_parser {
 public:
  explicit cron_parser(std::string_view text) noexcept : text_(text) {}
  result<cron_expression> run();

  struct field_rule;

 private:
  using text_view = std::string_view;

  bool read_macro(text_view macro);
  bool read_every(text_view duration);
  bool read_fields(text_view trimmed);
  bool read_field(const field_rule& where, text_view field);
  bool read_element(const field_rule& where, text_view element);
  bool read_day_of_month(text_view element, bool& taken);
  bool read_day_of_week(const field_rule& where, text_view element, bool& taken);
  bool read_value(const field_rule& where, text_view text, int& value);
  bool read_step(const field_rule& where, text_view text, int& step);
  bool add_range(const field_rule& where, int first, int last, int step);

  // Records the fault of `piece` (a part of text_) and returns false.
  bool fail(const field_rule* where, text_view piece, std::string why);
  int column_of(text_view piece) const noexcept { return static_cast<int>(piece.data() - text_.data()) + 1; }

  text_view text_;
  cron_expression made_;
  cron_years years_;
  std::string fault_;
};

}  // namespace looptask::schedule
