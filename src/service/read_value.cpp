#include <array>
#include <cmath>
#include <csignal>

#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "jobs/system_names.hpp"
#include "jobs/template.hpp"
#include "service/byte_size.hpp"
#include "service/duration.hpp"
#include "service/setting.hpp"

namespace looptask::service {
namespace {

using kind = toml_node::kind;

// Those that a program may be asked to end with, by name.
constexpr std::array<int, 10> signals{SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};

// One value on its way: everything a check needs to complain.
class value_reader {
 public:
  value_reader(const key_row& row, const toml_node& node, const std::string& path, reading& on)
      : row_(row), node_(node), path_(path), on_(on), problems_(on.problems) {}

  std::optional<setting_value> read();

 private:
  std::nullopt_t refuse(const std::string& message) { return refuse_at(node_.at, message); }
  std::nullopt_t refuse_at(position at, const std::string& message) {
    problems_.error(at, path_, message);
    return std::nullopt;
  }
  std::nullopt_t wrong_type(const std::string& right) {
    return refuse("is " + std::string(describe(node_.what)) + "; write " + right);
  }

  template <class T>
  std::optional<setting_value> take(result<T> parsed) {
    if (!parsed) return refuse(parsed.message());
    return setting_value(std::move(parsed).value());
  }

  std::optional<setting_value> read_integer();
  std::optional<setting_value> read_number();
  std::optional<setting_value> read_string(const std::string& right);
  std::optional<setting_value> read_duration();
  std::optional<setting_value> read_size();
  std::optional<setting_value> read_choice();
  std::optional<setting_value> read_cron();
  std::optional<setting_value> read_instant();
  std::optional<setting_value> read_strings(const std::string& right);
  std::optional<setting_value> read_signal();
  std::optional<setting_value> read_exit_codes();
  std::optional<setting_value> read_environment();

  const key_row& row_;
  const toml_node& node_;
  const std::string& path_;
  reading& on_;
  problem_list& problems_;
};

std::optional<setting_value> value_reader::read_integer() {
  if (node_.what != kind::integer) return wrong_type("a whole number, as in 3");
  if (node_.integer < row_.minimum || node_.integer > row_.maximum) {
    if (row_.minimum == row_.maximum)
      return refuse("is " + std::to_string(node_.integer) + "; this version knows only " + std::to_string(row_.minimum));
    return refuse("is " + std::to_string(node_.integer) + "; write a number from " + std::to_string(row_.minimum) + " to " +
                  std::to_string(row_.maximum));
  }
  return setting_value(node_.integer);
}

std::optional<setting_value> value_reader::read_number() {
  if (node_.what != kind::integer && node_.what != kind::number) return wrong_type("a number, as in 0.2");
  const double n = node_.what == kind::integer ? static_cast<double>(node_.integer) : node_.number;
  if (!(n >= static_cast<double>(row_.minimum) && n <= static_cast<double>(row_.maximum)))
    return refuse("is out of range; write a number from " + std::to_string(row_.minimum) + " to " +
                  std::to_string(row_.maximum));
  return setting_value(n);
}

std::optional<setting_value> value_reader::read_string(const std::string& right) {
  if (node_.what != kind::string) return wrong_type(right);
  if (node_.text.find('\0') != std::string::npos) return refuse("holds a NUL character; no program can get one");
  return setting_value(node_.text);
}

std::optional<setting_value> value_reader::read_duration() {
  if (node_.what != kind::string) return wrong_type("a duration in quotes with its unit, as in \"5m\" or \"1h30m\"");
  if (row_.name == "every") {
    for (const std::string_view word : {"day", "week", "month", "year"})
      if (node_.text.find(word) != std::string::npos)
        return refuse("calendar intervals are not in this version yet; write a duration, as in \"24h\", or use cron");
  }
  auto parsed = parse_duration(node_.text);
  if (!parsed) return refuse(parsed.message());
  if (parsed.value().count() < row_.minimum)
    return refuse(in_quotes(node_.text) + " is too short; write at least \"" + print_duration(microseconds(row_.minimum)) +
                  "\"");
  return setting_value(parsed.value());
}

std::optional<setting_value> value_reader::read_size() {
  if (node_.what != kind::string) return wrong_type("a size in quotes with its unit, as in \"256KiB\"");
  auto parsed = parse_size(node_.text);
  if (!parsed) return refuse(parsed.message());
  if (parsed.value() > row_.maximum)
    return refuse(in_quotes(node_.text) + " is too large; write at most \"" + print_size(row_.maximum) + "\"");
  return setting_value(parsed.value());
}

std::optional<setting_value> value_reader::read_choice() {
  const std::string right = choices_in_words(row_.choices);
  if (node_.what != kind::string) return wrong_type(right);
  if (has_choice(row_.choices, node_.text)) return setting_value(node_.text);
  if (has_choice(row_.later_choices, node_.text))
    return refuse(in_quotes(node_.text) + " is not in this version yet; write " + right);
  return refuse("there is no " + in_quotes(node_.text) + "; write " + right);
}

std::optional<setting_value> value_reader::read_cron() {
  if (node_.what == kind::array)
    return refuse("a list of expressions is not in this version yet; write one, as in \"0 3 * * *\"");
  if (node_.what != kind::string) return wrong_type("a cron expression in quotes, as in \"0 3 * * *\"");
  return take(schedule::cron_expression::parse(node_.text));
}

std::optional<setting_value> value_reader::read_instant() {
  const std::string right = "a date with a time, without quotes, as in 2030-01-31T08:00:00 or 2030-01-31T08:00:00Z";
  if (node_.what == kind::string && node_.text == "startup")
    return refuse("\"startup\" is not in this version yet; write " + right);
  if (node_.what == kind::array) return refuse("a list of times is not in this version yet; write " + right);
  if (node_.what != kind::datetime) return wrong_type(right);
  return setting_value(node_.datetime);
}

std::optional<setting_value> value_reader::read_strings(const std::string& right) {
  if (node_.what != kind::array) return wrong_type(right);
  std::vector<std::string> texts;
  for (const auto& item : node_.items) {
    if (item.what != kind::string)
      return refuse_at(item.at, "is a list with " + std::string(describe(item.what)) + " in it; write " + right);
    if (item.text.find('\0') != std::string::npos) return refuse_at(item.at, "holds a NUL character; no program can get one");
    texts.push_back(item.text);
  }
  return setting_value(std::move(texts));
}

std::optional<setting_value> value_reader::read_signal() {
  if (node_.what != kind::string) return wrong_type("the name of a signal, as in \"SIGINT\"");
  std::vector<std::string> known;
  for (const int number : signals) {
    known.push_back(jobs::signal_name(number));
    if (node_.text == known.back()) return setting_value(std::int64_t{number});
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::string upper = node_.text;
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  auto near = nearest_name(node_.text, names);
  for (const auto name : names)
    if (name.substr(3) == upper) near = name;
  if (near) return refuse("no signal " + in_quotes(node_.text) + "; did you mean " + in_quotes(*near) + "?");
  std::string all;
  for (const auto name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return refuse("no signal " + in_quotes(node_.text) + "; write one of " + all);
}

std::optional<setting_value> value_reader::read_exit_codes() {
  const std::string right = "a list of exit codes from 0 to 255, as in [0, 3]";
  if (node_.what != kind::array) return wrong_type(right);
  std::vector<int> codes;
  for (const auto& item : node_.items) {
    if (item.what != kind::integer)
      return refuse_at(item.at, "is a list with " + std::string(describe(item.what)) + " in it; write " + right);
    if (item.integer < 0 || item.integer > 255)
      return refuse_at(item.at, "has " + std::to_string(item.integer) + " in it; write " + right);
    codes.push_back(static_cast<int>(item.integer));
  }
  if (codes.empty()) return refuse("is empty, so no run could succeed; write " + right);
  return setting_value(std::move(codes));
}

std::optional<setting_value> value_reader::read_environment() {
  const std::string right = "a table of strings, as in { LANG = \"C.UTF-8\" }";
  if (node_.what != kind::table) return wrong_type(right);
  string_pairs pairs;
  bool ok = true;
  const auto complain = [&](position at, const std::string& name, const std::string& message) {
    problems_.error(at, join_path(path_, name), message);
    ok = false;
  };
  for (const auto& [name, at, value] : node_.members) {
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      complain(at, name, "is no name of a variable; it may not be empty nor hold '='");
    } else if (name.rfind("LOOPTASK_", 0) == 0) {
      complain(at, name, "is set by looptask itself; take another name");
    } else if (value.what != kind::string) {
      complain(value.at, name, "is " + std::string(describe(value.what)) + "; write a string in quotes");
    } else if (value.text.find('\0') != std::string::npos) {
      complain(value.at, name, "holds a NUL character; no program can get one");
    } else if (const auto text = jobs::text_template::parse(value.text);
               const auto* wrong = std::get_if<jobs::template_error>(&text)) {
      complain(value.at, name, "column " + std::to_string(wrong->column) + " of the text: " + wrong->message);
    } else {
      pairs.emplace_back(name, value.text);
    }
  }
  if (!ok) return std::nullopt;
  return setting_value(std::move(pairs));
}

std::optional<setting_value> value_reader::read() {
  switch (row_.kind) {
    case value_kind::boolean:
      if (node_.what != kind::boolean) return wrong_type("true or false, without quotes");
      return setting_value(node_.boolean);
    case value_kind::integer:
      return read_integer();
    case value_kind::number:
      return read_number();
    case value_kind::string:
      return read_string("a string in quotes");
    case value_kind::duration:
      return read_duration();
    case value_kind::size:
      return read_size();
    case value_kind::choice:
      return read_choice();
    case value_kind::zone:
      if (node_.what != kind::string) return wrong_type("the name of a zone in quotes, as in \"Europe/Berlin\"");
      return take(schedule::zone::load(node_.text, on_.known_zones));
    case value_kind::cron:
      return read_cron();
    case value_kind::instant:
      return read_instant();
    case value_kind::argv: {
      const std::string right = "a list of strings, as in [\"date\", \"-u\"]";
      auto texts = read_strings(node_.what == kind::string ? right + ", or use shell for a whole line" : right);
      if (!texts) return std::nullopt;
      const auto& argv = std::get<std::vector<std::string>>(*texts);
      if (argv.empty() || argv.front().empty()) return refuse("names no program; write " + right);
      return texts;
    }
    case value_kind::shell:
      if (node_.what == kind::array) return wrong_type("a line for the shell as one string, or use run for a list");
      if (auto line = read_string("a line for the shell, as in \"date >> log\"")) {
        if (std::get<std::string>(*line).find_first_not_of(" \t\n\r") != std::string::npos) return line;
        return refuse("is empty; write a line for the shell, as in \"date >> log\"");
      }
      return std::nullopt;
    case value_kind::signal:
      return read_signal();
    case value_kind::exit_codes:
      return read_exit_codes();
    case value_kind::directory:
      if (auto path = read_string("a path in quotes, as in \"/srv/report\"")) {
        if (!std::get<std::string>(*path).empty()) return path;
        return refuse("is empty; write a path, or leave the key out");
      }
      return std::nullopt;
    case value_kind::patterns: {
      const std::string right = "a list of names or globs, as in [\"HTTP_PROXY\", \"AWS_*\"]";
      auto texts = read_strings(right);
      if (!texts) return std::nullopt;
      for (const auto& name : std::get<std::vector<std::string>>(*texts))
        if (name.empty() || name.find('=') != std::string::npos)
          return refuse("holds " + in_quotes(name) + ", which is no name; write " + right);
      return texts;
    }
    case value_kind::environment:
      return read_environment();
    case value_kind::nested:
    case value_kind::later:
      break;
  }
  LOOPTASK_ASSERT(false, "read_value: tables and keys of later versions have no value");
}

}  // namespace

std::optional<setting_value> read_value(const key_row& row, const toml_node& node, const std::string& path, reading& on) {
  return value_reader(row, node, path, on).read();
}

}  // namespace looptask::service
