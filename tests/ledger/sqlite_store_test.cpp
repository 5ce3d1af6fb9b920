#include "ledger/sqlite_store.hpp"

#include "conformance.hpp"
#include "temporary_directory.hpp"

namespace looptask::ledger {
namespace {

class sqlite_backend final : public backend {
 public:
  explicit sqlite_backend(durability level) : level_(level) {}
  std::unique_ptr<store> open(loop& home) override { return open_sqlite_store(directory_.path(), level_, home); }
  bool survives_its_store() const override { return true; }

 private:
  temporary_directory directory_;
  durability level_;
};

std::unique_ptr<backend> make_full() { return std::make_unique<sqlite_backend>(durability::full); }
std::unique_ptr<backend> make_process() { return std::make_unique<sqlite_backend>(durability::process); }

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreConformance,
                         testing::Values(backend_factory{"full", make_full}, backend_factory{"process", make_process}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace looptask::ledger
