#pragma once
// The soft limit of open descriptors: raised for this process, as it was before for its children. Any thread.
//
//   raise_descriptor_limit();
//   const std::optional<rlimit64> for_children = descriptor_limit_of_children();
#include <sys/resource.h>

#include <optional>

namespace looptask {

// To the hard limit, at most 65,536; never lowers it. A kernel that refuses leaves it as it is.
void raise_descriptor_limit() noexcept;
// What a child must be given; nullopt: it inherits the right one, because nothing was raised or somebody has set another since.
std::optional<rlimit64> descriptor_limit_of_children() noexcept;

}  // namespace looptask
