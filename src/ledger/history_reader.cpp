#include "ledger/history_reader.hpp"

#include <sqlite3.h>

#include "ledger/record_rules.hpp"

namespace looptask::ledger {
namespace {

constexpr const char* run_columns =
    "select id, job, kind, nominal, epoch, run_id, phase, due, decided, started, ended, lateness, outcome, result, cause, "
    "detail, "
    "slots, nominal_last from runs ";

instant at(const statement& row, int column) { return instant(microseconds(row.number(column))); }

template <class T, class Convert>
std::optional<T> unless_null(const statement& row, int column, Convert convert) {
  return row.is_null(column) ? std::nullopt : std::optional<T>(convert(row, column));
}

std::optional<instant> maybe_at(const statement& row, int column) { return unless_null<instant>(row, column, at); }

std::optional<int> maybe_int(const statement& row, int column) {
  return unless_null<int>(row, column, [](const statement& r, int c) { return static_cast<int>(r.number(c)); });
}

// The schema's version says that all words are known; one that is not was put there by somebody else.
template <class Enum>
Enum word(const statement& row, int column) {
  Enum value{};
  if (!from_string(row.bytes(column), value)) {
    throw std::runtime_error("history.db holds the unknown word '" + std::string(row.bytes(column)) +
                             "': it was changed by another program");
  }
  return value;
}

template <class Enum>
std::optional<Enum> maybe_word(const statement& row, int column) {
  return unless_null<Enum>(row, column, word<Enum>);
}

run_record read_run(const statement& row) {
  run_record r;
  r.key.job = row.bytes(1);
  r.key.kind = word<run_kind>(row, 2);
  r.key.nominal = at(row, 3);
  r.key.epoch = static_cast<std::uint32_t>(row.number(4));
  r.run_id = row.bytes(5);
  r.phase = word<record_phase>(row, 6);
  r.due = at(row, 7);
  r.decided = at(row, 8);
  r.started = maybe_at(row, 9);
  r.ended = maybe_at(row, 10);
  if (!row.is_null(11)) r.lateness = microseconds(row.number(11));
  if (!row.is_null(12)) r.outcome = word<slot_outcome>(row, 12);
  r.result = maybe_word<run_result>(row, 13);
  r.why = word<cause>(row, 14);
  r.detail = row.bytes(15);
  r.slots = static_cast<std::uint64_t>(row.number(16));
  r.nominal_last = at(row, 17);
  return r;
}

// The narrow columns come first: without output SQLite does not touch the pages that hold it.
class attempt_query {
 public:
  attempt_query(connection& db, bool with_output)
      : with_output_(with_output),
        rows_(db, with_output
                      ? "select n, started, ended, result, exit_code, signal, cpu, max_rss, pid, pid_start, pid_boot_id, "
                        "output_dropped, output_head, output_tail from attempts where run = ?1 order by n"
                      : "select n, started, ended, result, exit_code, signal, cpu, max_rss, pid, pid_start, pid_boot_id, "
                        "output_dropped from attempts where run = ?1 order by n") {}

  std::vector<attempt_record> of(std::int64_t run) {
    std::vector<attempt_record> found;
    statement::cursor rows(rows_, run);
    while (rows.next()) found.push_back(read());
    return found;
  }

 private:
  attempt_record read() const {
    attempt_record a;
    a.n = static_cast<std::uint32_t>(rows_.number(0));
    a.started = at(rows_, 1);
    a.ended = maybe_at(rows_, 2);
    a.result = maybe_word<run_result>(rows_, 3);
    a.exit_code = maybe_int(rows_, 4);
    a.signal = maybe_int(rows_, 5);
    a.cpu = microseconds(rows_.number(6));
    a.max_rss = rows_.number(7);
    if (!rows_.is_null(8)) {
      a.process = process_identity{.pid = static_cast<std::int32_t>(rows_.number(8)),
                                   .start_time = static_cast<std::uint64_t>(rows_.number(9)),
                                   .boot_id = std::string(rows_.bytes(10))};
    }
    a.output_dropped = static_cast<std::uint64_t>(rows_.number(11));
    if (with_output_) {
      a.output_head = std::string(rows_.bytes(12));
      a.output_tail = std::string(rows_.bytes(13));
    }
    return a;
  }

  bool with_output_;
  statement rows_;
};

// All statements between its begin and end see the same state.
class one_state {
 public:
  explicit one_state(connection& db) : db_(db) { db_.execute("begin"); }
  ~one_state() { sqlite3_exec(db_.handle(), "rollback", nullptr, nullptr, nullptr); }
  one_state(const one_state&) = delete;
  one_state& operator=(const one_state&) = delete;

 private:
  connection& db_;
};

job_record read_job(const statement& row) {
  job_record j;
  j.name = row.bytes(0);
  j.trigger = row.bytes(1);
  j.judged_from = at(row, 2);
  j.anchor = at(row, 3);
  j.watermark = at(row, 4);
  j.wall_high = at(row, 5);
  j.epoch = static_cast<std::uint32_t>(row.number(6));
  j.last_start = maybe_at(row, 7);
  j.last_end = maybe_at(row, 8);
  j.paused = row.number(9) != 0;
  j.runs = static_cast<std::uint64_t>(row.number(10));
  j.failures = static_cast<std::uint64_t>(row.number(11));
  j.last_error = row.bytes(12);
  return j;
}

}  // namespace

// One text for each shape of query, so that each uses the index made for it.
std::string runs_query_text(const run_query& what) {
  std::string sql = run_columns;
  sql += "where nominal >= ?1";
  if (what.job) sql += " and job = ?3";
  if (what.ran_only) sql += " and outcome = 'ran'";
  sql += " order by nominal desc, id desc limit ?2";
  return sql;
}

snapshot history_reader::load() {
  snapshot result;
  const one_state state(*db_);
  {
    statement query(*db_, "select boot_id, offset, alive from clock where id = 1");
    statement::cursor rows(query);
    if (rows.next()) {
      if (!query.is_null(0)) {
        result.clock = timeline{.boot_id = std::string(query.bytes(0)), .offset = microseconds(query.number(1))};
      }
      result.alive = maybe_at(query, 2);
    }
  }
  {
    statement query(
        *db_,
        "select name, trigger, judged_from, anchor, watermark, wall_high, epoch, last_start, last_end, paused, runs, "
        "failures, last_error from jobs order by name");
    statement::cursor rows(query);
    while (rows.next()) result.jobs.push_back(read_job(query));
  }
  attempt_query attempts(*db_, true);
  statement query(*db_, (std::string(run_columns) + "where phase <> 'closed' order by id").c_str());
  statement::cursor rows(query);
  while (rows.next()) {
    run_record record = read_run(query);
    record.attempts = attempts.of(query.number(0));
    result.unfinished.push_back(std::move(record));
  }
  return result;
}

void history_reader::visit_runs(const run_query& what, unique_function<bool(run_record)> visit) {
  const one_state state(*db_);
  attempt_query attempts(*db_, what.with_output);
  statement query(*db_, runs_query_text(what).c_str());
  const std::int64_t since = (what.since ? *what.since : instant::min()).time_since_epoch().count();
  const std::int64_t limit = what.limit == 0 ? -1 : static_cast<std::int64_t>(what.limit);  // negative: none
  std::optional<statement::cursor> rows;
  if (what.job) {
    rows.emplace(query, since, limit, text(*what.job));
  } else {
    rows.emplace(query, since, limit);
  }
  while (rows->next()) {
    run_record record = read_run(query);
    record.attempts = attempts.of(query.number(0));
    if (!visit(std::move(record))) return;
  }
}

}  // namespace looptask::ledger
