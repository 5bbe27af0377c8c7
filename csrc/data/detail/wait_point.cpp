#include <csrc/data/detail/wait_point.h>

#include <condition_variable>

namespace torch::data::detail {

struct WaitPoint::Condition {
  std::condition_variable variable;
};

WaitPoint::WaitPoint() : condition_(std::make_unique<Condition>()) {}

WaitPoint::~WaitPoint() = default;

bool WaitPoint::wait(std::unique_lock<std::mutex>& lock, c10::function_ref<bool()> ready, const Timeout& timeout) {
  if (timeout) {
    return condition_->variable.wait_for(lock, *timeout, ready);
  }
  condition_->variable.wait(lock, ready);
  return true;
}

void WaitPoint::notify_one() noexcept {
  condition_->variable.notify_one();
}

void WaitPoint::notify_all() noexcept {
  condition_->variable.notify_all();
}

} // namespace torch::data::detail
