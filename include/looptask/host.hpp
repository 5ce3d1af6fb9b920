#pragma once
// The ports: everything outside the process's own memory is reached through a `host`. `real_host` talks to Linux;
// `sim::world` is a deterministic world in virtual time. Nothing else calls the system for clock, readiness, processes,
// files, sockets or randomness (a lint proves it on the object files).
//
// A host belongs to one loop and is used on that loop's thread, except where a function says "any thread".
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/time.hpp>
#include <looptask/worker_port.hpp>

namespace looptask {

class network_port;  // <looptask/network.hpp>

// The one door through which other threads reach a loop. Accepted work runs on the loop's thread, or is destroyed there
// or with the loop, exactly once.
class inbox {
 public:
  virtual void post(unique_function<void()> work) = 0;  // any thread

 protected:
  ~inbox() = default;
};

class clock_port {
 public:
  virtual monotonic_time monotonic() const noexcept = 0;
  virtual duration boot() const noexcept = 0;  // since boot; goes on during suspend
  virtual instant wall() const noexcept = 0;
  virtual std::string boot_id() const = 0;  // differs after each boot of the machine
  // `handler` is called on the loop's thread soon after somebody set the wall clock (never for slewing). One handler; an
  // empty one ends it.
  virtual void on_wall_step(unique_function<void()> handler) = 0;

 protected:
  ~clock_port() = default;
};

enum class readiness : std::uint8_t { none = 0, read = 1, write = 2, both = 3 };

class readiness_handler {
 public:
  // `ready` includes hang-up and error as whatever was asked for, so that the next call of the owner meets them.
  virtual void on_ready(readiness ready) = 0;

 protected:
  ~readiness_handler() = default;
};

// The host cannot go on. Thrown by wait() for itself, not for a handler: it leaves loop::run(), while what handlers throw
// goes to loop::on_error.
class host_failure : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

class reactor_port {
 public:
  // One watch per descriptor. The handler must outlive the watch. After unwatch(fd) returns, its handler is not called
  // again, not even for events of the same wait(). Unwatch before closing. Errors: std::system_error.
  virtual void watch(int fd, readiness wanted, readiness_handler& handler) = 0;
  virtual void rewatch(int fd, readiness wanted) = 0;
  virtual void unwatch(int fd) noexcept = 0;
  // Blocks until a descriptor is ready, a wake, or `until` (never early by more than the clock's own step); calls the
  // handlers of what is ready. nullopt: no deadline. A deadline in the past polls. True if it called anything on behalf of
  // its user (not for a mere wake or deadline): then there may be more to come at this same instant.
  virtual bool wait(std::optional<monotonic_time> until) = 0;
  virtual void wake() noexcept = 0;  // any thread, and from a signal handler
  // A descriptor that can be read when wait() would find something, and after a wake(): for another event loop to wait on. Not
  // to be read, nor closed. -1: there is none (virtual time).
  virtual int native_fd() const noexcept = 0;

 protected:
  ~reactor_port() = default;
};

// Signals delivered to this process, as calls on the loop's thread. One owner per signal number and process.
class signal_port {
 public:
  virtual void watch(int signal, unique_function<void(int)> handler) = 0;
  virtual void unwatch(int signal) noexcept = 0;  // restores what was there before

 protected:
  ~signal_port() = default;
};

// Tells one process from every other that had or will have its pid.
struct process_identity {
  std::int32_t pid = 0;          // also its session and process group
  std::uint64_t start_time = 0;  // field 22 of /proc/PID/stat: clock ticks after boot
  std::string boot_id;

  bool operator==(const process_identity&) const = default;
};

// How far the killing of a child reaches; later ones reach further.
enum class containment_tier : std::uint8_t {
  session,  // all of its session: what calls setsid is out of reach
  tree,     // all that comes from it, whatever session it is in. A guard process stands between us and the child
};

// An empty argv and a relative workdir are misuse: every port asserts. So is end_with_us without containment.
struct process_spec {
  std::vector<std::string> argv;  // argv[0] without a slash is searched in the PATH of `env`
  std::vector<std::string> env;   // "NAME=value", the whole environment of the child
  std::string workdir;            // absolute
  // The least that will do: where it cannot be had, the spawn fails. child_process::tier() says what is in force.
  containment_tier containment = containment_tier::session;
  // From `tree` on: when this process ends, however it does, or its loop goes, all that comes from the child is killed.
  bool end_with_us = false;
};

struct process_exit {
  monotonic_time at{};      // when it ended, as far as the host knows; never later than now
  std::optional<int> code;  // exactly one of code and signal; neither if something else in this process took the status
  std::optional<int> signal;
  microseconds cpu{0};  // user + system, of the main process and what it waited for
  // Bytes; 0: not known. With `session`, what stays below our own peak is not: Linux counts in what a child shared with us
  // before it became its program.
  std::int64_t max_rss = 0;
};

// Called on the loop's thread, in this order: on_spawned, then output, exit and end of output as they come; or
// on_spawn_failed alone. Main exit, end of output and "nothing left alive" are three different events.
class process_events {
 public:
  virtual void on_spawned(const process_identity& who) = 0;
  virtual void on_spawn_failed(int error, std::string_view what) = 0;  // errno of the step `what` ("exec", "chdir", ...)
  virtual void on_output(std::string_view bytes) = 0;                  // stdout and stderr in the order written
  virtual void on_output_end() = 0;
  virtual void on_exit(const process_exit& how) = 0;

 protected:
  ~process_events() = default;
};

// A started child, its own session and process group. Destroying it stops all calls of its events and closes its pipe; it
// does not end the process, so kill_session() first. The port still reaps it. When the loop goes, what has been sent KILL is
// waited for, up to a second for all together; what goes on running is left to the system.
class child_process {
 public:
  virtual ~child_process() = default;
  virtual void signal_group(int signal) noexcept = 0;
  // Backpressure. While held, neither output nor its end is reported; the child blocks once its pipe is full. Its exit is
  // reported all the same. What has come meanwhile follows on the loop, never from inside this call. std::system_error if the
  // kernel lacks memory.
  virtual void hold_output(bool hold) = 0;
  // KILL to every process of the child's session, or of its tree if that is the tier, again and again until none is left; then
  // `done` on the loop's thread, never from inside this call. `killed`: how many processes other than the main one had to be
  // killed. `left`: how many would not die within the port's bound; with 0, on_exit has been called before, or on_spawn_failed:
  // a start that hangs (a program on a dead file system) is stopped, with ETIMEDOUT after the same bound at the latest, and its
  // program will not run.
  virtual void kill_session(unique_function<void(int killed, int left)> done) = 0;
  // How far kill_session reaches. It may come to be less than was asked for: somebody who kills the guard of a tree frees what
  // has left the session, and how the child ends will not be known.
  virtual containment_tier tier() const noexcept = 0;
};

class process_port {
 public:
  // Never blocks the loop. `events` must outlive the child_process.
  virtual std::unique_ptr<child_process> spawn(process_spec spec, process_events& events) = 0;
  // The furthest that a spec may ask for here.
  virtual containment_tier containment() const noexcept = 0;
  // What an earlier life of the service left behind: every process that carries LOOPTASK_RUN_ID=`run_id` in its
  // environment, and every process of the session of `who`. KILL until none is left. `done` on the loop's thread.
  //
  // Once the leader of a session is gone and the session is empty, its number may become that of a stranger, whose leader may
  // be gone as well. So without its leader a session is taken for ours only if one of its processes carries the run id or was
  // started by `alive_until`; else it is a stranger's, and neither killed nor counted.
  struct leftover {
    std::string run_id;
    std::optional<process_identity> who;
    // On the boot clock: until then at least the run was going, with its leader not waited for. nullopt: not known.
    std::optional<duration> alive_until = std::nullopt;
  };
  virtual void kill_leftovers(std::vector<leftover> runs, unique_function<void(int killed, int left)> done) = 0;

 protected:
  ~process_port() = default;
};

class random_port {
 public:
  virtual std::uint64_t next() noexcept = 0;

 protected:
  ~random_port() = default;
};

// Whole files, synchronously: configuration at start, secrets, small state. Errors: std::system_error with the path. Only
// regular files are read and written: anything else (a FIFO, a device) could hold up the loop for ever and is EINVAL, a
// directory EISDIR. Also called by workers, at the same time as by the loop: the functions share nothing but the files.
class file_port {
 public:
  static constexpr std::size_t default_read_limit = std::size_t{64} << 20U;
  // A file of more than `limit` bytes is EFBIG.
  virtual std::string read(const std::string& path, std::size_t limit = default_read_limit) = 0;
  virtual void append(const std::string& path, std::string_view bytes) = 0;
  // Whoever reads the file, also after a crash, finds all of the old or all of the new. An existing file keeps its permissions.
  // A symbolic link is followed.
  virtual void replace(const std::string& path, std::string_view bytes) = 0;
  // An open file; errors name its path. Positions count from its beginning, in bytes.
  class open_file {
   public:
    virtual ~open_file() = default;                                             // closes it; an error of that is lost
    virtual std::string read_at(std::uint64_t position, std::size_t size) = 0;  // shorter only where the file ends
    virtual void write_at(std::uint64_t position, std::string_view bytes) = 0;  // all of it
    virtual std::uint64_t size() = 0;
    virtual void sync() = 0;   // what was written survives a crash of the machine
    virtual void close() = 0;  // afterwards it may only be destroyed; throws what a late write has met
  };
  enum class open_mode : std::uint8_t { read, write, create };  // write: and read; create: an empty one if there is none
  virtual std::unique_ptr<open_file> open(const std::string& path, open_mode how) = 0;
  virtual bool exists(const std::string& path) = 0;
  // `path` as seen from the root: relative ones count from the process's working directory. Not resolved otherwise; the file
  // need not exist.
  virtual std::string absolute(const std::string& path) = 0;
  virtual void make_directories(const std::string& path, unsigned mode) = 0;
  // An advisory lock held until the result is destroyed; nullptr if another process holds it for two seconds.
  class lock {
   public:
    virtual ~lock() = default;
  };
  virtual std::unique_ptr<lock> try_lock(const std::string& path) = 0;

 protected:
  ~file_port() = default;
};

class host {
 public:
  virtual ~host() = default;
  // Called once by the loop that takes this host, before anything else; ports that work with threads come home through it.
  virtual void attach(inbox& home) = 0;
  // Drops queued calls of workers, and waits for those that run and are not abandoned.
  virtual void detach() noexcept = 0;
  virtual clock_port& clock() noexcept = 0;
  virtual reactor_port& reactor() noexcept = 0;
  virtual signal_port& signals() noexcept = 0;
  virtual process_port& processes() noexcept = 0;
  virtual random_port& random() noexcept = 0;
  virtual file_port& files() noexcept = 0;
  virtual worker_port& workers() noexcept = 0;
  virtual network_port& network() = 0;  // std::system_error (ENOTSUP) from a host that has none
};

}  // namespace looptask
