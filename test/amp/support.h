// What the tests of autocast share.
#pragma once

#include <aten/autocast/autocast_mode.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include "test/support/matchers.h"

#include <string>
#include <vector>

namespace test {

/// Autocast by its own functions: no guard that asks whether the device is there.
class AutocastOn {
 public:
  AutocastOn(at::DeviceType device, at::ScalarType dtype)
      : device_(device), before_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_dtype(device, dtype);
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::increment_nesting();
  }
  AutocastOn(const AutocastOn&) = delete;
  AutocastOn& operator=(const AutocastOn&) = delete;
  ~AutocastOn() {
    if (at::autocast::decrement_nesting() == 0) {
      at::autocast::clear_cache();
    }
    at::autocast::set_autocast_enabled(device_, false);
    at::autocast::set_autocast_dtype(device_, before_);
  }

 private:
  const at::DeviceType device_;
  const at::ScalarType before_;
};

/// The letter of a dtype in expected.h.
inline char letter(at::ScalarType dtype, at::ScalarType lower) {
  switch (dtype) {
    case at::kFloat:
      return 'f';
    case at::kDouble:
      return 'd';
    case at::kLong:
      return 'i';
    case at::kBool:
      return 'b';
    case at::kComplexFloat:
      return 'c';
    default:
      return dtype == lower ? 'l' : '?';
  }
}

/// Keeps the warnings of its scope.
class Warnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    texts_.push_back(warning.msg());
  }
  const std::vector<std::string>& texts() const {
    return texts_;
  }

 private:
  std::vector<std::string> texts_;
  const c10::WarningUtils::WarningHandlerGuard guard_{this};
};

} // namespace test
