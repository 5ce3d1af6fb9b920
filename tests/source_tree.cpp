#include <source_tree.hpp>

namespace looptask::tests {

std::string source_dir() { return LOOPTASK_SOURCE_DIR; }

std::string binary_dir() { return LOOPTASK_BINARY_DIR; }

}  // namespace looptask::tests
