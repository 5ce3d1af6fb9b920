#pragma once
// Batches that follow from their number alone, so that a ledger can be compared with what it should hold after n of them.
#include <cstdint>
#include <string>

#include "ledger/ledger.hpp"

namespace looptask::ledger {

// Batch i claims run i of job "numbered", closes run i - 2, and moves the job's watermark. All three or none.
batch numbered_batch(std::int64_t i);

// How many batches the ledger holds; throws std::runtime_error if it holds a part of one, or one without its predecessors.
std::int64_t count_numbered_batches(store& ledger);

}  // namespace looptask::ledger
