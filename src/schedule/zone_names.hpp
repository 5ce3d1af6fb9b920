#pragma once
// Names of time zones: which texts can be one, which ones a database offers, and which of them a misspelt one meant. Pure
// functions, any thread; the caller reads the database's index (tzdata.zi) through its file port.
//
//   auto known = zone_names_of(files.read("/usr/share/zoneinfo/tzdata.zi"));
//   nearest_zone_name("asia/shangai", known) == "Asia/Shanghai"
//   zone_name_fault("../etc/passwd")  // "has a part that is empty or begins with a dot"
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace looptask::schedule {

// Why `name` cannot name a zone whatever the database holds; nullopt: it has the form of one. Paths, fixed offsets, the
// machine's local time and the database's copies with leap seconds are refused.
std::optional<std::string> zone_name_fault(std::string_view name);

// All zones and links of a tzdata.zi text, sorted. Lines that are neither are passed over.
std::vector<std::string> zone_names_of(std::string_view tzdata_zi);

// The name of `known` a person most likely meant; nullopt if none is near. Letter case, blanks and a missing region count
// little ("shanghai", "new york"); in names of up to four letters nothing else may differ.
std::optional<std::string> nearest_zone_name(std::string_view name, std::span<const std::string> known);

// What to write instead of a name that is none, as the end of a message: the nearest name, the zone of an offset ("UTC+5" is
// Etc/GMT-5), or how names are made. Empty if nothing is known.
std::string zone_name_advice(std::string_view name, std::span<const std::string> known);

}  // namespace looptask::schedule
