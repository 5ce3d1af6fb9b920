#include "ledger/history_writer.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <set>

#include "ledger/history_file.hpp"
#include "ledger/record_rules.hpp"

namespace looptask::ledger {
namespace {

constexpr int checkpoint_pages = 1000;

std::int64_t us(instant when) { return when.time_since_epoch().count(); }
std::optional<std::int64_t> us(const std::optional<instant>& when) { return when ? std::optional(us(*when)) : std::nullopt; }
std::optional<std::int64_t> wide(const std::optional<int>& value) {
  return value ? std::optional<std::int64_t>(*value) : std::nullopt;
}
std::optional<text> word(const std::optional<run_result>& value) {
  return value ? std::optional(text(to_string(*value))) : std::nullopt;
}

// Rolls back unless committed. After some errors SQLite has rolled back by itself.
class transaction {
 public:
  explicit transaction(connection& db) : db_(db) { db_.execute("begin immediate"); }
  ~transaction() {
    if (db_.in_transaction()) sqlite3_exec(db_.handle(), "rollback", nullptr, nullptr, nullptr);
  }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  void commit() { db_.execute("commit"); }

 private:
  connection& db_;
};

}  // namespace

struct history_writer::statements {
  explicit statements(connection& db)
      : set_clock(db,
                  "insert into clock (id, boot_id, offset) values (1, ?1, ?2) "
                  "on conflict (id) do update set boot_id = excluded.boot_id, offset = excluded.offset"),
        set_alive(db, "insert into clock (id, alive) values (1, ?1) on conflict (id) do update set alive = excluded.alive"),
        set_job(db, "insert or replace into jobs values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"),
        remove_job(db, "delete from jobs where name = ?1"),
        find_run(db, "select id, phase = 'closed' from runs where job = ?1 and nominal = ?2 and kind = ?3 and epoch = ?4"),
        insert_run(db,
                   "insert into runs (job, kind, nominal, epoch, run_id, phase, due, decided, started, ended, lateness, "
                   "outcome, result, cause, detail, slots, nominal_last) "
                   "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)"),
        update_run(db,
                   "update runs set run_id = ?2, phase = ?3, due = ?4, decided = ?5, started = ?6, ended = ?7, "
                   "lateness = ?8, outcome = ?9, result = ?10, cause = ?11, detail = ?12, slots = ?13, nominal_last = ?14 "
                   "where id = ?1"),
        set_attempt(db,
                    "insert or replace into attempts "
                    "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)") {}

  statement set_clock, set_alive, set_job, remove_job, find_run, insert_run, update_run, set_attempt;
};

history_writer::history_writer(const std::string& directory, durability level, file_port& files)
    : db_(open_history_to_write(directory, level, files)), prepared_(std::make_unique<statements>(*db_)), level_(level) {
  sqlite3_wal_hook(
      db_->handle(),
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<history_writer*>(self)->log_pages_ = pages;
        return SQLITE_OK;
      },
      this);
}

history_writer::~history_writer() = default;

history_writer::written history_writer::write(const std::vector<batch>& group, std::optional<instant> alive) {
  written result;
  result.refused.resize(group.size());
  const bool something = std::any_of(group.begin(), group.end(), [](const batch& each) { return !each.empty(); });
  if (!something && !alive) return result;
  db_->expect_in_place();
  if (level_ == durability::full) db_->execute(something ? "pragma synchronous = full" : "pragma synchronous = normal");
  transaction all(*db_);
  for (std::size_t i = 0; i < group.size(); ++i) {
    result.refused[i] = apply(group[i]);
    result.synced = result.synced || (!result.refused[i] && !group[i].empty());
  }
  if (alive) prepared_->set_alive.run(us(*alive));
  all.commit();
  return result;
}

std::optional<std::string> history_writer::apply(const batch& what) {
  // Looked up before anything is changed, so that a refused batch leaves no trace in the transaction.
  std::vector<std::int64_t> ids;
  ids.reserve(what.runs.size());
  std::set<run_key> closing;
  for (const run_record& record : what.runs) {
    const found known = find(record.key);
    if (known.closed || closing.contains(record.key)) return closed_record_message(record.key);
    ids.push_back(known.id);
    if (what.runs.size() > 1 && record.phase == record_phase::closed) closing.insert(record.key);
  }
  statements& to = *prepared_;
  if (what.clock) to.set_clock.run(text(what.clock->boot_id), std::int64_t{what.clock->offset.count()});
  for (const job_record& job : what.jobs) {
    to.set_job.run(text(job.name), text(job.trigger), us(job.judged_from), us(job.anchor), us(job.watermark), us(job.wall_high),
                   std::int64_t{job.epoch}, us(job.last_start), us(job.last_end), std::int64_t{job.paused},
                   static_cast<std::int64_t>(job.runs), static_cast<std::int64_t>(job.failures), text(job.last_error));
  }
  for (const std::string& name : what.removed_jobs) to.remove_job.run(text(name));
  for (std::size_t i = 0; i < what.runs.size(); ++i) {
    // A record before this one may have had the same key.
    const bool look_again = ids[i] == 0 && i > 0;
    write_run(what.runs[i], look_again ? find(what.runs[i].key).id : ids[i]);
  }
  return std::nullopt;
}

history_writer::found history_writer::find(const run_key& key) {
  statement& query = prepared_->find_run;
  statement::cursor rows(query, text(key.job), us(key.nominal), text(to_string(key.kind)), std::int64_t{key.epoch});
  if (!rows.next()) return {};
  return {.id = query.number(0), .closed = query.number(1) != 0};
}

void history_writer::write_run(const run_record& record, std::int64_t id) {
  statements& to = *prepared_;
  const std::optional<text> outcome =
      record.phase == record_phase::waiting ? std::nullopt : std::optional(text(to_string(record.outcome)));
  const std::optional<std::int64_t> lateness = record.lateness ? std::optional(record.lateness->count()) : std::nullopt;
  const auto facts = [&](statement& into, const auto&... before) {
    into.run(before..., text(record.run_id), text(to_string(record.phase)), us(record.due), us(record.decided),
             us(record.started), us(record.ended), lateness, outcome, word(record.result), text(to_string(record.why)),
             text(record.detail), static_cast<std::int64_t>(record.slots), us(record.nominal_last));
  };
  if (id != 0) {
    facts(to.update_run, id);
  } else {
    facts(to.insert_run, text(record.key.job), text(to_string(record.key.kind)), us(record.key.nominal),
          std::int64_t{record.key.epoch});
    id = db_->last_insert_id();
  }
  for (const attempt_record& attempt : record.attempts) write_attempt(attempt, id);
}

void history_writer::write_attempt(const attempt_record& attempt, std::int64_t run) {
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> start_time;
  std::optional<text> boot_id;
  if (attempt.process) {
    pid = attempt.process->pid;
    start_time = static_cast<std::int64_t>(attempt.process->start_time);
    boot_id = text(attempt.process->boot_id);
  }
  prepared_->set_attempt.run(run, std::int64_t{attempt.n}, us(attempt.started), us(attempt.ended), word(attempt.result),
                             wide(attempt.exit_code), wide(attempt.signal), std::int64_t{attempt.cpu.count()}, attempt.max_rss,
                             pid, start_time, boot_id, static_cast<std::int64_t>(attempt.output_dropped),
                             blob(attempt.output_head), blob(attempt.output_tail));
}

void history_writer::checkpoint_if_due() noexcept {
  if (log_pages_ < checkpoint_pages) return;
  // PASSIVE: what readers still need stays in the log until a later call.
  const int code = sqlite3_wal_checkpoint_v2(db_->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK) log_pages_ = 0;
}

}  // namespace looptask::ledger
