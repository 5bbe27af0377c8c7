#pragma once

#include <functional>
#include <utility>

namespace c10 {

/// Undoes a registration when it goes out of scope.
class RegistrationHandleRAII final {
 public:
  explicit RegistrationHandleRAII(std::function<void()> on_destruction) : on_destruction_(std::move(on_destruction)) {}
  ~RegistrationHandleRAII() {
    if (on_destruction_) {
      on_destruction_();
    }
  }
  RegistrationHandleRAII(const RegistrationHandleRAII&) = delete;
  RegistrationHandleRAII& operator=(const RegistrationHandleRAII&) = delete;
  RegistrationHandleRAII(RegistrationHandleRAII&& rhs) noexcept {
    on_destruction_.swap(rhs.on_destruction_);
  }
  RegistrationHandleRAII& operator=(RegistrationHandleRAII&& rhs) noexcept {
    on_destruction_.swap(rhs.on_destruction_);
    return *this;
  }

 private:
  std::function<void()> on_destruction_;
};

} // namespace c10
