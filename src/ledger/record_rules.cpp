#include "ledger/record_rules.hpp"

#include <looptask/assert.hpp>

#include <array>

namespace looptask::ledger {
namespace {

constexpr std::array<std::string_view, 3> phases{"waiting", "open", "closed"};  // in the order of the enumerators

}  // namespace

std::string_view to_string(record_phase v) noexcept { return phases[static_cast<std::size_t>(v)]; }

bool from_string(std::string_view text, record_phase& out) noexcept {
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (phases[i] != text) continue;
    out = static_cast<record_phase>(i);
    return true;
  }
  return false;
}

void normalise(run_record& record) noexcept {
  LOOPTASK_ASSERT(record.slots >= 1, "a record stands for at least one slot");
  if (record.slots == 1) record.nominal_last = record.key.nominal;
  LOOPTASK_ASSERT(record.nominal_last >= record.key.nominal, "a range of slots ends before it begins");
  if (record.phase == record_phase::waiting) record.outcome = slot_outcome::ran;
}

std::string closed_record_message(const run_key& key) {
  return "the record of job " + key.job + ", " + std::string(to_string(key.kind)) + ", nominal " +
         std::to_string(key.nominal.time_since_epoch().count()) + " us, epoch " + std::to_string(key.epoch) +
         " is closed; a closed record is never changed";
}

}  // namespace looptask::ledger
