// Ranks for tests: threads of this process, or processes of their own.
#pragma once

#include <csrc/distributed/c10d/ProcessGroup.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace test {

using GroupPtr = c10::intrusive_ptr<c10d::ProcessGroup>;

/// A group over shared memory, whose ranks meet at the store.
GroupPtr shm_group(
    const c10::intrusive_ptr<c10d::Store>& store,
    int rank,
    int size,
    std::chrono::milliseconds timeout = std::chrono::seconds(20));

/// Calls `body` in one thread for each rank; what they throw fails the test.
void with_rank_threads(int size, const std::function<void(int rank, const GroupPtr& group)>& body);

/// Calls `body` in one process for each rank, with a store where they meet. Returns what each returned, or "error: "
/// and the message of what it threw, or "signal N".
std::vector<std::string> with_store_processes(
    int size,
    const std::function<std::string(int rank, const c10::intrusive_ptr<c10d::Store>& store)>& body,
    std::chrono::seconds deadline = std::chrono::seconds(30));
/// The same with a group over shared memory.
std::vector<std::string> with_rank_processes(
    int size,
    const std::function<std::string(int rank, const GroupPtr& group)>& body,
    std::chrono::seconds deadline = std::chrono::seconds(30));

} // namespace test
