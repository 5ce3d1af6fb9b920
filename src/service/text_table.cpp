#include "service/text_table.hpp"

#include <looptask/assert.hpp>

#include <algorithm>
#include <utility>

#include "base/printable.hpp"

namespace looptask::service {
namespace {

// Bytes that do not continue a UTF-8 character.
std::size_t width_of(std::string_view cell) {
  return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

text_table::text_table(std::vector<column> columns, line_sink to)
    : columns_(std::move(columns)), widths_(columns_.size()), to_(std::move(to)) {
  std::vector<std::string> titles;
  for (const column& each : columns_) titles.push_back(each.title);
  add(std::move(titles));
}

bool text_table::add(std::vector<std::string> cells) {
  LOOPTASK_ASSERT(cells.size() == columns_.size(), "a row has as many cells as the table has columns");
  for (std::string& cell : cells) cell = printable(cell);
  if (!measuring_) return write(cells);
  for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], width_of(cells[i]));
  held_.push_back(std::move(cells));
  return held_.size() < measured || write_held();
}

bool text_table::finish() { return !measuring_ || write_held(); }

bool text_table::write_held() {
  measuring_ = false;
  const auto rows = std::exchange(held_, {});
  return std::all_of(rows.begin(), rows.end(), [this](const auto& cells) { return write(cells); });
}

bool text_table::write(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    const std::size_t width = width_of(cells[i]);
    const std::string padding(widths_[i] > width ? widths_[i] - width : 0, ' ');
    line += columns_[i].side == left ? cells[i] + padding : padding + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return to_(line + "\n");
}

}  // namespace looptask::service
