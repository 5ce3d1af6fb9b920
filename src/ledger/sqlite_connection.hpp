#pragma once
// SQLite's C interface with ownership: a connection, its prepared statements, and errors that name file, reason and code.
//
// A connection and its statements are used by one thread at a time (they may be handed over, with synchronisation). Errors are
// thrown as sqlite_error. A statement that was stepped holds its transaction open until reset; `statement::cursor` does that.
//
//   connection db(path, access::read_write);
//   statement insert(db, "insert into t values(?1, ?2)");
//   insert.run(std::int64_t{1}, text("one"));
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace looptask::ledger {

// what() is one line: path, what was tried, the reason, and errno's text where the system gave one.
class sqlite_error : public std::runtime_error {
 public:
  sqlite_error(const std::string& message, int code, int system_error)
      : std::runtime_error(message), code_(code), system_error_(system_error) {}
  int code() const noexcept { return code_; }                  // SQLite's primary result code
  int system_error() const noexcept { return system_error_; }  // errno, or 0
  bool no_database() const noexcept;                           // the file holds something else
  bool cannot_open() const noexcept;

 private:
  int code_;
  int system_error_;
};

enum class access : std::uint8_t { read_only, read_write };  // read_write creates the file

class connection {
 public:
  connection(const std::string& path, access how);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void execute(const char* sql);
  std::int64_t number(const char* sql);  // first column of the first row; 0 if there is none
  std::string word(const char* sql);
  bool writable() const noexcept;  // read_write falls back to reading where the file may not be written
  bool in_transaction() const noexcept;
  // Throws unless the file that was opened still stands at path(): what is written to one that was removed or replaced is lost.
  void expect_in_place();
  std::int64_t last_insert_id() const noexcept;
  sqlite3* handle() noexcept { return db_; }
  const std::string& path() const noexcept { return path_; }
  [[noreturn]] void fail(const char* tried, int code) const;  // with this connection's latest error

 private:
  std::string path_;
  sqlite3* db_ = nullptr;
};

// How a byte string is to be stored. Both refer to memory that must live until the statement has run.
struct text {
  explicit text(std::string_view value) : bytes(value) {}
  std::string_view bytes;
};
struct blob {
  explicit blob(std::string_view value) : bytes(value) {}
  std::string_view bytes;
};

class statement {
 public:
  statement(connection& db, const char* sql);
  ~statement();
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  // Binds all parameters in order, runs to the end and resets.
  template <class... Values>
  void run(const Values&... values) {
    const cursor rows(*this, values...);
    while (step()) {
    }
  }

  // Binds all parameters; resets the statement when it goes.
  class cursor {
   public:
    template <class... Values>
    explicit cursor(statement& of, const Values&... values) : of_(of) {
      int index = 0;
      (of_.bind(++index, values), ...);
    }
    ~cursor() { of_.reset(); }
    cursor(const cursor&) = delete;
    cursor& operator=(const cursor&) = delete;
    bool next() { return of_.step(); }

   private:
    statement& of_;
  };

  // Columns of the current row.
  bool is_null(int column) const noexcept;
  std::int64_t number(int column) const noexcept;
  std::string_view bytes(int column) const noexcept;  // until the next step

 private:
  bool step();
  void reset() noexcept;
  void bind(int index, std::int64_t value);
  void bind(int index, text value);
  void bind(int index, blob value);
  void bind(int index, std::nullopt_t);
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, std::nullopt);
    }
  }
  void check_bound(int code) const;

  connection& db_;
  sqlite3_stmt* prepared_ = nullptr;
};

}  // namespace looptask::ledger
