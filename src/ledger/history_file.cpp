#include "ledger/history_file.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <system_error>

namespace looptask::ledger {
namespace {

constexpr std::int64_t application_id = 0x4c6f6f70;  // "Loop"
constexpr std::int64_t schema_version = 1;

// Instants are integer microseconds of UTC since 1970, durations integer microseconds, enumerations the words of the command
// line. `id` is the order of decision.
constexpr const char* schema = R"sql(
create table clock (
  id integer primary key check (id = 1),
  boot_id text,
  offset integer,
  alive integer
) strict;
create table jobs (
  name text primary key,
  trigger text not null,
  judged_from integer not null,
  anchor integer not null,
  watermark integer not null,
  wall_high integer not null,
  epoch integer not null,
  last_start integer,
  last_end integer,
  paused integer not null,
  runs integer not null,
  failures integer not null,
  last_error text not null
) strict, without rowid;
create table runs (
  id integer primary key,
  job text not null,
  kind text not null,
  nominal integer not null,
  epoch integer not null,
  run_id text not null,
  phase text not null,
  due integer not null,
  decided integer not null,
  started integer,
  ended integer,
  lateness integer,
  outcome text,
  result text,
  cause text not null,
  detail text not null,
  slots integer not null,
  nominal_last integer not null
) strict;
create unique index runs_key on runs (job, nominal, kind, epoch);
create index runs_ran_of_job on runs (job, nominal) where outcome = 'ran';
create index runs_by_nominal on runs (nominal, outcome);
create index runs_unfinished on runs (id) where phase <> 'closed';
create table attempts (
  run integer not null references runs (id),
  n integer not null,
  started integer not null,
  ended integer,
  result text,
  exit_code integer,
  signal integer,
  cpu integer not null,
  max_rss integer not null,
  pid integer,
  pid_start integer,
  pid_boot_id text,
  output_dropped integer not null,
  output_head blob not null,
  output_tail blob not null,
  primary key (run, n)
) strict, without rowid;
)sql";

[[noreturn]] void foreign(const std::string& path) {
  throw std::runtime_error(path + ": this is a database of another program: choose another data directory, or move it away");
}

// Whether a history is there; false for a file with nothing in it. Throws for everything that is none of the two.
bool check_schema(connection& db) {
  const std::int64_t application = db.number("pragma application_id");
  const std::int64_t version = db.number("pragma user_version");
  if (application == 0 && version == 0) {
    if (db.number("select count(*) from sqlite_schema") != 0) foreign(db.path());
    return false;
  }
  if (application != application_id) foreign(db.path());
  if (version > schema_version) {
    throw std::runtime_error(db.path() + ": written by a newer LoopTask (schema " + std::to_string(version) +
                             ", this one knows up to " + std::to_string(schema_version) +
                             "): run that version, or choose another data directory");
  }
  return true;
}

void create_schema(connection& db) {
  db.execute("begin immediate");
  db.execute(schema);
  db.execute(("pragma application_id = " + std::to_string(application_id)).c_str());
  db.execute(("pragma user_version = " + std::to_string(schema_version)).c_str());
  db.execute("commit");
}

// The files beside the database stay when the service ends, so that somebody who may only read the directory can open it.
void keep_log_files(connection& db) {
  int on = 1;
  sqlite3_file_control(db.handle(), "main", SQLITE_FCNTL_PERSIST_WAL, &on);
}

// A history holds whatever jobs wrote, so it begins readable for its owner alone; who wants it otherwise changes the mode,
// which is kept. SQLite gives the files beside it the same mode.
std::unique_ptr<connection> open_or_create(const std::string& path, file_port& files) {
  try {
    if (!files.exists(path)) files.append(path, {});
  } catch (const std::system_error& why) {
    const bool place = why.code() == std::errc::no_such_file_or_directory || why.code() == std::errc::permission_denied;
    throw std::runtime_error(path + ": cannot be created: " +
                             (place ? "the directory is not there, or this user may not write to it" : why.code().message()));
  }
  try {
    auto db = std::make_unique<connection>(path, access::read_write);
    if (db->writable()) return db;
  } catch (const sqlite_error& why) {
    if (why.code() != SQLITE_CANTOPEN || why.system_error() != EACCES) throw;
  }
  throw std::runtime_error(
      path + ": this user may not write the file: give it to the service's user, or choose another data directory");
}

std::string file_in(const std::string& directory) { return directory + "/history.db"; }

}  // namespace

std::unique_ptr<connection> open_history_to_write(const std::string& directory, durability level, file_port& files) {
  auto db = open_or_create(file_in(directory), files);
  const bool present = check_schema(*db);
  if (const std::string mode = db->word("pragma journal_mode = wal"); mode != "wal") {
    throw std::runtime_error(db->path() + ": the file system offers no write-ahead log (journal mode stays " + mode +
                             "): put the data directory on a local disk");
  }
  db->execute(level == durability::full ? "pragma synchronous = full" : "pragma synchronous = normal");
  db->execute("pragma wal_autocheckpoint = 0");  // the writer does it when no commit waits
  db->execute("pragma journal_size_limit = 16777216");
  db->execute("pragma cache_size = -4096");
  keep_log_files(*db);
  if (!present) create_schema(*db);
  return db;
}

std::unique_ptr<connection> open_history_to_read(const std::string& directory) {
  const std::string path = file_in(directory);
  try {
    auto db = std::make_unique<connection>(path, access::read_only);
    sqlite3_db_config(db->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    db->execute("pragma query_only = on");
    db->execute("pragma cache_size = -2048");
    if (!check_schema(*db)) throw no_history(path);
    return db;
  } catch (const sqlite_error& why) {
    if (why.code() == SQLITE_CANTOPEN && why.system_error() == ENOENT) throw no_history(path);
    throw;
  }
}

}  // namespace looptask::ledger
