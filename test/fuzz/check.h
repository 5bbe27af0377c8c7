// Makes one call and says what is wrong with what happened.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "test/fuzz/cases.h"

namespace fuzz {

struct Finding {
  std::string kind; // the same for findings of one cause, as far as can be told
  std::string what;
};

enum class Outcome : uint8_t { Succeeded, Refused, Failed };

struct Verdict {
  Outcome outcome = Outcome::Refused;
  std::vector<Finding> findings;
};

/// Runs case `index`. What must hold: only c10::Error is thrown; nothing outside a tensor is written; inputs keep
/// bytes, metadata and version unless the schema says that they are written to; a refused call leaves outputs alone
/// too; the same call without data gives the same shapes, dtypes and strides; and with inputs placed otherwise the same
/// values. For another device than the CPU it is compared with that instead; see device_check.h.
Verdict run_case(const Cases& cases, uint64_t index, c10::Device device);

} // namespace fuzz
