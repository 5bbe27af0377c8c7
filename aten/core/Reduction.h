// How a loss is reduced over the batch.
#pragma once

#include <cstdint>

namespace at::Reduction {

/// Values of the `reduction` argument of losses; stable, since they stand in schemas and saved graphs.
enum Reduction : int64_t { None, Mean, Sum, END };

} // namespace at::Reduction
