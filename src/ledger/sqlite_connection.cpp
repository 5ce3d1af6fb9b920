#include "ledger/sqlite_connection.hpp"

#include <looptask/assert.hpp>

#include <sqlite3.h>

#include <system_error>
#include <utility>

namespace looptask::ledger {
namespace {

// Waiting for somebody else's lock (a shell, a backup) is worth this much of the writer's time, in milliseconds.
constexpr int busy_timeout = 1000;

std::string describe(const std::string& path, const char* tried, int code, const char* reason, int system_error) {
  std::string message = path + ": " + tried + ": " + reason;
  if (system_error != 0) message += " (" + std::generic_category().message(system_error) + ")";
  message += ", SQLite code " + std::to_string(code);
  if (const int primary = code & 0xff; primary == SQLITE_NOTADB || primary == SQLITE_CORRUPT) {
    message +=
        "; the history is damaged or is no history: move the file away together with its -wal and -shm to begin a new one, or "
        "put a backup in its place";
  }
  return message;
}

// errno of the call that the system refused, if that is what `code` means. SQLite keeps it for each file; the connection's own
// is not set by a failing commit.
int system_error_behind(sqlite3* db, int code) {
  const int primary = code & 0xff;
  if (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN) return 0;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  int found = 0;
  if (log != nullptr && log->pMethods != nullptr) log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &found);
  if (found == 0) sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &found);
  return found != 0 ? found : sqlite3_system_errno(db);
}

}  // namespace

bool sqlite_error::no_database() const noexcept { return code_ == SQLITE_NOTADB; }
bool sqlite_error::cannot_open() const noexcept { return code_ == SQLITE_CANTOPEN; }

connection::connection(const std::string& path, access how) : path_(path) {
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (how == access::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const int code = sqlite3_open_v2(path.c_str(), &db_, flags, nullptr);
  if (code != SQLITE_OK) {
    const int system_error = db_ == nullptr ? 0 : sqlite3_system_errno(db_);
    const std::string message = describe(path, "cannot open", code, sqlite3_errstr(code), system_error);
    sqlite3_close(std::exchange(db_, nullptr));
    throw sqlite_error(message, code & 0xff, system_error);
  }
  sqlite3_busy_timeout(db_, busy_timeout);
}

connection::~connection() {
  const int code = sqlite3_close(db_);
  LOOPTASK_ASSERT(code == SQLITE_OK, "a connection is closed before its statements");
}

void connection::fail(const char* tried, int code) const {
  const int system_error = system_error_behind(db_, code);
  throw sqlite_error(describe(path_, tried, code, sqlite3_errmsg(db_), system_error), code & 0xff, system_error);
}

void connection::execute(const char* sql) {
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(sql, code);
}

bool connection::writable() const noexcept { return sqlite3_db_readonly(db_, "main") == 0; }

std::int64_t connection::number(const char* sql) {
  statement query(*this, sql);
  statement::cursor rows(query);
  return rows.next() ? query.number(0) : 0;
}

std::string connection::word(const char* sql) {
  statement query(*this, sql);
  statement::cursor rows(query);
  return rows.next() ? std::string(query.bytes(0)) : std::string();
}

void connection::expect_in_place() {
  int moved = 0;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved == 0) return;
  throw sqlite_error(path_ +
                         ": cannot write: the file was removed, moved away or replaced while the service runs; put it back, "
                         "or restart the service to go on with what stands there now",
                     SQLITE_IOERR, 0);
}

bool connection::in_transaction() const noexcept { return sqlite3_get_autocommit(db_) == 0; }

std::int64_t connection::last_insert_id() const noexcept { return sqlite3_last_insert_rowid(db_); }

statement::statement(connection& db, const char* sql) : db_(db) {
  const int code = sqlite3_prepare_v3(db.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared_, nullptr);
  if (code != SQLITE_OK) db.fail("cannot prepare a statement", code);
}

statement::~statement() { sqlite3_finalize(prepared_); }

bool statement::step() {
  const int code = sqlite3_step(prepared_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) db_.fail(sqlite3_stmt_readonly(prepared_) != 0 ? "cannot read" : "cannot write", code);
  return false;
}

void statement::reset() noexcept {
  sqlite3_reset(prepared_);  // repeats the error of the last step, which was thrown already
  sqlite3_clear_bindings(prepared_);
}

bool statement::is_null(int column) const noexcept { return sqlite3_column_type(prepared_, column) == SQLITE_NULL; }

std::int64_t statement::number(int column) const noexcept { return sqlite3_column_int64(prepared_, column); }

std::string_view statement::bytes(int column) const noexcept {
  const auto* const begin = static_cast<const char*>(sqlite3_column_blob(prepared_, column));
  const int size = sqlite3_column_bytes(prepared_, column);
  return begin == nullptr ? std::string_view() : std::string_view(begin, static_cast<std::size_t>(size));
}

void statement::bind(int index, std::int64_t value) { check_bound(sqlite3_bind_int64(prepared_, index, value)); }

void statement::bind(int index, text value) {
  const char* const begin = value.bytes.data() == nullptr ? "" : value.bytes.data();
  check_bound(sqlite3_bind_text64(prepared_, index, begin, value.bytes.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void statement::bind(int index, blob value) {
  const char* const begin = value.bytes.data() == nullptr ? "" : value.bytes.data();
  check_bound(sqlite3_bind_blob64(prepared_, index, begin, value.bytes.size(), SQLITE_STATIC));
}

void statement::bind(int index, std::nullopt_t) { check_bound(sqlite3_bind_null(prepared_, index)); }

void statement::check_bound(int code) const {
  if (code != SQLITE_OK) db_.fail("cannot bind a value", code);
}

}  // namespace looptask::ledger
