#pragma once
// Rules about records that every store keeps the same way. Pure; thread-safe.
//
//   normalise(record);                                // as it is kept
//   if (known.closed) refuse(closed_record_message(record.key));
#include <string>
#include <string_view>

#include "ledger/ledger.hpp"

namespace looptask::ledger {

// What a query with ran_only wants: a slot that runs or ran. A waiting record may still turn into something else.
inline bool has_run(const run_record& record) noexcept {
  return record.phase != record_phase::waiting && record.outcome == slot_outcome::ran;
}

// Puts a submitted record into the form that is kept: nominal_last is set, a waiting record has no outcome yet.
void normalise(run_record& record) noexcept;

// The names used in database and JSON.
std::string_view to_string(record_phase) noexcept;
bool from_string(std::string_view, record_phase&) noexcept;

// Why a batch is refused: one line with the key.
std::string closed_record_message(const run_key& key);

}  // namespace looptask::ledger
