// Which ranks share a host.
#pragma once

#include <csrc/distributed/store/Store.h>

#include <string>

namespace c10d::detail {

/// The kernel's boot and the namespace of processes: who has the same can open the memory of one another.
std::string host_identity();
/// Whether all ranks, which meet at the store for this, share a host.
bool on_one_host(Store& store, int rank, int size, std::chrono::milliseconds timeout);

} // namespace c10d::detail
