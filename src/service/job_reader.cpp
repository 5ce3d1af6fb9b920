#include "service/job_reader.hpp"

#include <array>

#include "base/printable.hpp"
#include "schedule/series.hpp"

namespace looptask::service {
namespace {

using schedule::interval_from;

class job_reader {
 public:
  job_reader(const std::string& name, position at, const setting_map& settings, const job_surroundings& around,
             problem_list& problems)
      : path_(join_path("job", name)), at_(at), settings_(settings), around_(around), problems_(problems) {
    job_.definition.name = name;
  }

  job_settings read() {
    read_zone();
    read_trigger();
    read_policies();
    read_command();
    return std::move(job_);
  }

 private:
  // nullptr if it is neither in the file nor has a default, and also if it is wrong.
  template <class T>
  const T* find(std::string_view name) const {
    const auto i = settings_.find(name);
    return i == settings_.end() || !i->second.value ? nullptr : &std::get<T>(*i->second.value);
  }
  // Of a key with a default; a wrong one (already said to be wrong) gives an empty value.
  template <class T>
  T get(std::string_view name) const {
    const T* value = find<T>(name);
    return value == nullptr ? T() : *value;
  }
  // Stands in the job's own table, rightly or wrongly.
  const setting* own(std::string_view name) const {
    const auto i = settings_.find(name);
    return i == settings_.end() || !i->second.own ? nullptr : &i->second;
  }
  void refuse(const setting& where, std::string_view name, const std::string& message) {
    problems_.error(where.key_at, join_path(path_, name), message);
  }

  // All but the first of these are one too many. Returns how many there are.
  int allow_one(std::initializer_list<std::string_view> names, const std::string& advice) {
    const setting* first = nullptr;
    std::string_view first_name;
    int count = 0;
    for (const auto name : names) {
      const setting* s = own(name);
      if (s == nullptr) continue;
      ++count;
      if (first == nullptr || s->key_at < first->key_at) {
        first = s;
        first_name = name;
      }
    }
    for (const auto name : names) {
      const setting* s = own(name);
      if (s == nullptr || s == first) continue;
      refuse(*s, name, "cannot stand beside " + std::string(first_name) + "; " + advice);
    }
    return count;
  }

  void read_zone() {
    const auto* zone = find<schedule::zone>("timezone");
    job_.zone = zone == nullptr ? around_.zone : *zone;
    job_.zone_given = zone != nullptr || around_.zone_given;
  }

  void read_trigger();
  void read_interval(microseconds interval);
  void read_policies();
  void read_command();

  const std::string path_;
  const position at_;
  const setting_map& settings_;
  const job_surroundings& around_;
  problem_list& problems_;
  job_settings job_;
};

instant resolve(const toml_datetime& when, const schedule::zone& zone) {
  if (!when.offset_minutes) return instant(zone.resolve(when.when).first) + when.fraction;
  const auto utc = schedule::zone::utc().resolve(when.when).first;
  return instant(utc - std::chrono::minutes(*when.offset_minutes)) + when.fraction;
}

schedule::interval_from interval_from_of(const std::string& text) {
  return text == "grid" ? interval_from::grid : text == "start" ? interval_from::start : interval_from::end;
}

void job_reader::read_trigger() {
  allow_one({"every", "cron", "at"}, "keep one of every, cron and at");
  if (const auto* from = own("from"); from != nullptr && own("every") == nullptr)
    refuse(*from, "from", "says what `every` counts from, and there is no every; remove it");
  if (own("every") != nullptr) {
    const std::string from = get<std::string>("from");
    if (from == "end" || from == "start") {
      for (const std::string_view name : {"overlap", "misfire"})
        if (const auto* s = own(name))
          refuse(*s, name,
                 "has no meaning with from = " + in_quotes(from) +
                     ", where runs follow one another; remove it, or write from = \"grid\"");
    }
  }
  if (const auto* every = find<microseconds>("every"))
    job_.definition.trigger = schedule::every_trigger{*every, interval_from_of(get<std::string>("from")), microseconds(0)};
  else if (const auto* cron = find<schedule::cron_expression>("cron"))
    job_.definition.trigger = schedule::trigger_of(*cron, job_.zone);
  else if (const auto* at = find<toml_datetime>("at"))
    job_.definition.trigger = schedule::at_trigger{resolve(*at, job_.zone)};
}

void job_reader::read_policies() {
  auto& d = job_.definition;
  d.overlap = get<std::string>("overlap") == "queue_one" ? schedule::overlap_policy::queue_one : schedule::overlap_policy::skip;
  d.misfire = get<std::string>("misfire") == "skip" ? schedule::misfire_policy::skip : schedule::misfire_policy::run_once;
  if (const auto* timeout = find<microseconds>("timeout")) d.timeout = *timeout;
  const std::string backoff = get<std::string>("retry.backoff");
  d.retry.max = static_cast<std::uint32_t>(get<std::int64_t>("retry.max"));
  d.retry.backoff = backoff == "fixed"    ? schedule::backoff_kind::fixed
                    : backoff == "linear" ? schedule::backoff_kind::linear
                                          : schedule::backoff_kind::exponential;
  d.retry.delay = get<microseconds>("retry.delay");
  d.retry.factor = static_cast<std::uint32_t>(get<std::int64_t>("retry.factor"));
  d.retry.max_delay = get<microseconds>("retry.max_delay");
  d.retry.jitter = get<double>("retry.jitter");
  d.enabled = get<bool>("enabled");
  job_.description = get<std::string>("description");
}

void job_reader::read_command() {
  bool later_kind = false;
  for (const std::string_view name : {"http", "sql", "handler"}) later_kind = later_kind || own(name) != nullptr;
  if (allow_one({"run", "shell"}, "keep one of run and shell") == 0 && !later_kind)
    problems_.error(at_, path_, "has nothing to run; write run = [\"program\", \"argument\"] or shell = \"line\"");
  auto& c = job_.command;
  if (const auto* run = find<std::vector<std::string>>("run"))
    c.argv = *run;
  else if (const auto* line = find<std::string>("shell"))
    c.argv = {"/bin/sh", "-c", *line};
  c.stop_signal = static_cast<int>(get<std::int64_t>("stop_signal"));
  c.kill_after = get<microseconds>("kill_after");
  c.success_codes = get<std::vector<int>>("success_codes");
  c.env = get<string_pairs>("env");
  c.env_inherit = get<std::vector<std::string>>("env_inherit");
  const std::string workdir = get<std::string>("workdir");
  c.workdir = workdir.empty() ? around_.directory : workdir.front() == '/' ? workdir : around_.directory + "/" + workdir;
}

}  // namespace

job_settings read_job(const std::string& name, position at, const setting_map& settings, const job_surroundings& around,
                      problem_list& problems) {
  return job_reader(name, at, settings, around, problems).read();
}

}  // namespace looptask::service
