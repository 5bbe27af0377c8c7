#include <csrc/data/detail/wait_point.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>

namespace torch::data::detail {

struct WaitPoint::Condition {
  std::condition_variable variable;
};

WaitPoint::WaitPoint() : condition_(std::make_unique<Condition>()) {}

WaitPoint::~WaitPoint() = default;

bool WaitPoint::wait(std::unique_lock<std::mutex>& lock, c10::function_ref<bool()> ready, const Timeout& timeout) {
  if (timeout) {
    // The clock counts in nanoseconds, of which 64 bits hold some 292 years.
    constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
    return condition_->variable.wait_for(lock, std::clamp(*timeout, std::chrono::milliseconds(0), kLongest), ready);
  }
  condition_->variable.wait(lock, ready);
  return true;
}

void WaitPoint::wait(std::unique_lock<std::mutex>& lock, c10::function_ref<bool()> ready) {
  condition_->variable.wait(lock, ready);
}

void WaitPoint::wait_in_time(
    std::unique_lock<std::mutex>& lock, c10::function_ref<bool()> ready, const Timeout& timeout) {
  TORCH_CHECK(
      wait(lock, ready, timeout), "Timeout in DataLoader queue while waiting for next batch (timeout was ",
      timeout->count(), " ms)");
}

void WaitPoint::notify_one() noexcept {
  condition_->variable.notify_one();
}

void WaitPoint::notify_all() noexcept {
  condition_->variable.notify_all();
}

} // namespace torch::data::detail
