#pragma once
// Reads the history through a connection that can do nothing else. Each reading function sees one consistent state. One thread
// at a time. Errors: std::runtime_error with path and reason.
//
//   history_reader reader(open_history_to_read(directory));
//   reader.visit_runs({.job = "report", .limit = 10}, [](run_record r) { ...; return true; });
#include <memory>
#include <string>

#include "ledger/ledger.hpp"
#include "ledger/sqlite_connection.hpp"

namespace looptask::ledger {

class history_reader {
 public:
  explicit history_reader(std::unique_ptr<connection> db) : db_(std::move(db)) {}

  snapshot load();
  void visit_runs(const run_query& what, unique_function<bool(run_record)> visit);

 private:
  std::unique_ptr<connection> db_;
};

// The statement of a query: ?1 since, ?2 limit, ?3 job. For the reader, and for a look at its plan.
std::string runs_query_text(const run_query& what);

}  // namespace looptask::ledger
