#include "conformance.hpp"

namespace looptask::ledger {
namespace {

class memory_backend final : public backend {
 public:
  std::unique_ptr<store> open(loop& home) override { return make_memory_store(home); }
  bool survives_its_store() const override { return false; }
};

std::unique_ptr<backend> make_backend() { return std::make_unique<memory_backend>(); }

INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance, testing::Values(backend_factory{"memory", make_backend}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(MemoryStoreDeathTest, ARecordOfNoSlotIsMisuse) {
  test_loop home;
  const auto ledger = make_memory_store(home);
  run_record none = skipped_slot("a", 1);
  none.slots = 0;
  EXPECT_DEATH(ledger->submit(of(none), [](commit_error) {}), "at least one slot");
}

}  // namespace
}  // namespace looptask::ledger
