// Ranks on several machines, for which network namespaces stand: only root may make them.
#pragma once

#include <csrc/distributed/backends/ProcessGroupGloo.h>
#include <csrc/distributed/store/Store.h>

#include <functional>
#include <string>

namespace test {

/// Why there are no machines here, or nothing.
std::string reason_without_machines();

/// The address of a rank's machine.
std::string address_of(int rank);
/// The name that the link to a rank's machine has on all others.
std::string link_to(int rank);
/// Runs a command of the shell; throws if it fails.
void run_command(const std::string& command);

/// What `body` returns in a process that is the first of its machine, with a store that rank 0 serves. Each two
/// machines have a link of their own. All ranks call it, with a store where they meet before.
std::string on_machine(
    int rank,
    int size,
    c10d::Store& meeting,
    const std::function<std::string(const c10::intrusive_ptr<c10d::Store>& store)>& body);

/// A group over the network.
c10::intrusive_ptr<c10d::ProcessGroupGloo> network_group(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds timeout);

} // namespace test
