#pragma once
// Rows of words as a table for a terminal: columns as wide as their widest cell, two blanks between them, no blanks at the ends
// of lines. The widths follow from the first rows (at most `measured`), so that a table of any length needs no more memory;
// a later cell that is wider moves the rest of its line. Cells may hold any bytes: they are shown by printable(), and a
// character outside ASCII counts as one column. One thread.
//
//   text_table table({{"JOB"}, {"LATE", text_table::right}}, [&](std::string_view line) { return io.out(line); });
//   table.add({"sample", "1.20ms"});
//   table.finish();
#include <string>
#include <string_view>
#include <vector>

#include <looptask/function.hpp>

namespace looptask::service {

class text_table {
 public:
  enum alignment : bool { left, right };
  struct column {
    std::string title;
    alignment side = left;
  };
  using line_sink = unique_function<bool(std::string_view line)>;  // false: nobody reads any more

  text_table(std::vector<column> columns, line_sink to);

  bool add(std::vector<std::string> cells);  // as many as columns; false: nobody reads any more
  bool finish();                             // writes what is still held back, at least the titles

 private:
  static constexpr std::size_t measured = 1000;
  bool write(const std::vector<std::string>& cells);
  bool write_held();

  std::vector<column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> held_;
  bool measuring_ = true;
  line_sink to_;
};

}  // namespace looptask::service
