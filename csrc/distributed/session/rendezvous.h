// From the place where processes meet to a store, a rank and a size.
#pragma once

#include <csrc/distributed/session/init.h>

namespace torch::distributed::detail {

struct Meeting {
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0;
  int size = 1;
};

/// Throws where something is missing, with what to set.
Meeting meet(const InitOptions& options);

} // namespace torch::distributed::detail
