#pragma once
// One text for one trigger: what the ledger keeps, so that a restart knows an edited trigger from an old one.
#include <string>

#include "schedule/definition.hpp"

namespace looptask::schedule {

// Equal texts: the same slots. A disabled job's text is that of its trigger with "off " in front.
std::string trigger_text(const job_definition& definition);

}  // namespace looptask::schedule
