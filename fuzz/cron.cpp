#include "cron_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  looptask::fuzz::read_cron({data, size});
  return 0;
}
