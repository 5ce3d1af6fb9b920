#include "ledger/ledger.hpp"

namespace looptask::ledger {

std::vector<run_record> store::runs(const run_query& what) {
  std::vector<run_record> found;
  visit_runs(what, [&found](run_record record) {
    found.push_back(std::move(record));
    return true;
  });
  return found;
}

}  // namespace looptask::ledger
