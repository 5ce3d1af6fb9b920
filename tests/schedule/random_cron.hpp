#pragma once
// Random cron expressions, weighted towards what is hard: days, changes of the clock, wrap-around. The generator is seeded, so
// a failing case is found again by its seed. SplitMix64: the same numbers everywhere.
#include <cstdint>
#include <initializer_list>
#include <string>

namespace looptask::schedule {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E37'79B9'7F4A'7C15;
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
    return z ^ (z >> 31);
  }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }

 private:
  std::uint64_t state_;
};

class random_cron {
 public:
  explicit random_cron(random_numbers& numbers) : r_(numbers) {}

  std::string expression() {
    std::string text;
    const bool with_year = r_.one_in(8);
    if (with_year || r_.one_in(4)) text += (r_.one_in(3) ? field(0, 59) : number(0, 59)) + ' ';
    text += field(0, 59) + ' ' + field(0, 23) + ' ' + day_of_month() + ' ' + (r_.one_in(3) ? field(1, 12) : "*") + ' ' +
            day_of_week();
    if (with_year) text += ' ' + (r_.one_in(2) ? number(2000, 2060) : "*/" + number(1, 9));
    return text;
  }

 private:
  std::string number(int least, int most) { return std::to_string(r_.between(least, most)); }

  std::string element(int least, int most) {
    switch (r_.between(0, 5)) {
      case 0:
        return "*";
      case 1:
        return "*/" + number(1, most);
      case 2:
        return number(least, most) + '-' + number(least, most);
      case 3:
        return number(least, most) + '-' + number(least, most) + '/' + number(1, most);
      case 4:
        return number(least, most) + '/' + number(1, most);
      default:
        return number(least, most);
    }
  }
  std::string field(int least, int most) {
    std::string list = r_.one_in(3) ? number(least, most) : element(least, most);
    while (r_.one_in(4)) list += ',' + element(least, most);
    return list;
  }
  std::string day_of_month() {
    if (r_.one_in(2)) return r_.one_in(6) ? "?" : "*";
    std::string list = special_day();
    while (r_.one_in(4)) list += ',' + special_day();
    return list;
  }
  std::string special_day() {
    switch (r_.between(0, 7)) {
      case 0:
        return "L";
      case 1:
        return "L-" + number(1, 30);
      case 2:
      case 3:
        return number(1, 31) + 'W';
      case 4:
        return "LW";
      default:
        return element(1, 31);
    }
  }
  std::string day_of_week() {
    if (r_.one_in(2)) return r_.one_in(6) ? "?" : "*";
    std::string list = special_weekday();
    while (r_.one_in(4)) list += ',' + special_weekday();
    return list;
  }
  std::string special_weekday() {
    switch (r_.between(0, 4)) {
      case 0:
        return number(0, 6) + 'L';
      case 1:
        return number(0, 6) + '#' + number(1, 5);
      default:
        return element(0, 6);
    }
  }

  random_numbers& r_;
};

}  // namespace looptask::schedule
