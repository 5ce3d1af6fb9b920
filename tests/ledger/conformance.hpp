#pragma once
// What every store must do, as one suite (conformance.cpp). A store takes part by instantiating it:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance, testing::Values(backend_factory{"memory", make_memory_backend}));
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ledger/ledger.hpp"
#include "records.hpp"
#include "test_loop.hpp"

namespace looptask::ledger {

// One place where a ledger lives.
class backend {
 public:
  virtual ~backend() = default;
  // The store of this place. Opened a second time after the first has been destroyed, it holds what that one held.
  virtual std::unique_ptr<store> open(loop& home) = 0;
  virtual bool survives_its_store() const = 0;  // false: destroying the store forgets everything
};

struct backend_factory {
  const char* name;
  std::unique_ptr<backend> (*make)();
};
inline void PrintTo(const backend_factory& factory, std::ostream* out) { *out << factory.name; }

class StoreConformance : public testing::TestWithParam<backend_factory> {
 protected:
  test_loop home;
  std::unique_ptr<backend> place = GetParam().make();
  std::unique_ptr<store> ledger = place->open(home);

  void commit_well(batch what) { looptask::ledger::commit_well(*ledger, home, std::move(what)); }
  // Where the backend allows it, looks at the ledger as the next life of the service would.
  void reopen() {
    if (!place->survives_its_store()) return;
    ledger.reset();
    ledger = place->open(home);
  }
};

}  // namespace looptask::ledger
