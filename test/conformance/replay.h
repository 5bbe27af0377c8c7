// Replays one case through the boxed dispatcher and judges its parts.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "corpus.h"

namespace conformance {

enum class Status : uint8_t { Passed, Failed, Missing };

struct Verdict {
  Part part;
  Status status;
  std::string why; // the first difference, or what is missing
};

/// One verdict for each part of the case. Never throws.
std::vector<Verdict> replay(const Case& c, c10::Device device);

} // namespace conformance
