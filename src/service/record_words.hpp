#pragma once
// Records of the ledger as people read them: one row of words each. Pure; any thread.
//
//   text_table table(record_columns(), sink);
//   table.add(record_words(record));
#include <string>
#include <vector>

#include "ledger/ledger.hpp"
#include "service/text_table.hpp"

namespace looptask::service {

// Job, nominal time in UTC, lateness, duration, result, attempts, and why.
std::vector<text_table::column> record_columns();
std::vector<std::string> record_words(const ledger::run_record& record);

}  // namespace looptask::service
