// Which runs with random faults a test makes.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace test {

struct FaultSeeds {
  uint32_t first;
  uint32_t count;
};

/// TENSOR_TEST_FAULT_RUNS asks for another count than the usual one, TENSOR_TEST_FAULT_SEED for other runs.
inline FaultSeeds fault_seeds(uint32_t usual_count) {
  const auto number_in = [](const char* variable, uint32_t usual) {
    const char* const asked = std::getenv(variable);
    return asked != nullptr ? static_cast<uint32_t>(std::atoi(asked)) : usual;
  };
  return {number_in("TENSOR_TEST_FAULT_SEED", 0), number_in("TENSOR_TEST_FAULT_RUNS", usual_count)};
}

} // namespace test
