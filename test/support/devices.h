#pragma once

#include <c10/core/Device.h>

#include <vector>

namespace test {

/// The devices every device-independent test runs on: cpu, and cuda when one is there.
std::vector<c10::Device> devices();

} // namespace test
