// Something to be done at the end of a block.
#pragma once

#include <functional>
#include <utility>

namespace torch::jit {

/// Calls a function when it goes, unless it was released.
class ResourceGuard {
 public:
  explicit ResourceGuard(std::function<void()> destructor) : destructor_(std::move(destructor)) {}
  ResourceGuard(const ResourceGuard&) = delete;
  ResourceGuard& operator=(const ResourceGuard&) = delete;
  ~ResourceGuard() {
    if (!released_) {
      destructor_();
    }
  }
  void release() {
    released_ = true;
  }

 private:
  std::function<void()> destructor_;
  bool released_ = false;
};

} // namespace torch::jit
