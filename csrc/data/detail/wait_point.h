// A place where threads wait for each other.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/OwnedPtr.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

namespace torch::data::detail {

using Timeout = std::optional<std::chrono::milliseconds>;

/// A condition variable. Its type stays in the source file: <condition_variable> is not cheap to include.
class TORCH_API WaitPoint {
 public:
  WaitPoint();
  ~WaitPoint();
  WaitPoint(const WaitPoint&) = delete;
  WaitPoint& operator=(const WaitPoint&) = delete;

  /// Waits, with `lock` released meanwhile, until `ready` holds. Returns false if it does not after `timeout`.
  bool wait(std::unique_lock<std::mutex>& lock, c10::function_ref<bool()> ready, const Timeout& timeout);
  void wait(std::unique_lock<std::mutex>& lock, c10::function_ref<bool()> ready);
  /// For the queue of a data loader: throws c10::Error when `timeout` has passed.
  void wait_in_time(std::unique_lock<std::mutex>& lock, c10::function_ref<bool()> ready, const Timeout& timeout);
  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  struct Condition;
  c10::OwnedPtr<Condition> condition_;
};

} // namespace torch::data::detail
