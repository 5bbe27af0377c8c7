#pragma once

#include <c10/macros/Export.h>
#include <c10/util/OwnedPtr.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace torch::data::detail {

/// Threads of a loader or a dataset. Parallel loops inside them stay serial, so that together with the main thread they
/// do not overload the machine.
class TORCH_API WorkerThreads {
 public:
  WorkerThreads();
  /// Joins.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// Starts a thread that runs `body`, which must not throw.
  void start(std::function<void()> body);
  /// Waits for all threads to end. They must have been told to.
  void join();
  size_t size() const noexcept;

 private:
  struct Threads;
  c10::OwnedPtr<Threads> threads_;
};

} // namespace torch::data::detail
