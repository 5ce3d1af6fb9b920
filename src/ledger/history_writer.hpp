#pragma once
// Writes batches into the history. It has the only connection that writes and checkpoints. One thread at a time.
//
// A group of batches is one transaction: on sqlite_error nothing of it is there. Batches that would change a closed record are
// left out and named. Records have been normalised (record_rules.hpp).
//
//   history_writer writer(directory, durability::full, host.files());
//   if (writer.write(batches, now).refused[0]) ...
//   writer.checkpoint_if_due();
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"
#include "ledger/sqlite_connection.hpp"
#include "ledger/sqlite_store.hpp"

namespace looptask::ledger {

class history_writer {
 public:
  history_writer(const std::string& directory, durability level, file_port& files);
  ~history_writer();

  // For each batch the reason why it is refused, or nullopt: durable. `alive` goes along without a sync of its own. `synced`
  // tells whether anything had to be made durable. Throws sqlite_error; then nothing of the group is kept.
  struct written {
    std::vector<std::optional<std::string>> refused;
    bool synced = false;
  };
  written write(const std::vector<batch>& group, std::optional<instant> alive);

  // Moves the log into the database when it has grown enough; never waits for readers. A failure does not matter to what is
  // durable; the next call tries again.
  void checkpoint_if_due() noexcept;

 private:
  struct statements;
  struct found {
    std::int64_t id = 0;  // 0: there is none
    bool closed = false;
  };
  std::optional<std::string> apply(const batch& what);
  found find(const run_key& key);
  void write_run(const run_record& record, std::int64_t id);  // id 0: insert
  void write_attempt(const attempt_record& attempt, std::int64_t run);

  std::unique_ptr<connection> db_;
  std::unique_ptr<statements> prepared_;
  durability level_;
  int log_pages_ = 0;
};

}  // namespace looptask::ledger
