#pragma once
// From the checked values of one job to its settings: the rules that hold between keys. Pure.
#include <string>

#include "service/configuration.hpp"
#include "service/setting.hpp"

namespace looptask::service {

struct job_surroundings {
  std::string directory;  // absolute, of the file
  schedule::zone zone;    // the service's
  bool zone_given = false;
};

// Fills in a job; what is wrong goes to `problems`, and the result is then not to be used.
job_settings read_job(const std::string& name, position at, const setting_map& settings, const job_surroundings& around,
                      problem_list& problems);

}  // namespace looptask::service
