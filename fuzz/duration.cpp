#include "configuration_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  looptask::fuzz::read_duration({data, size});
  return 0;
}
