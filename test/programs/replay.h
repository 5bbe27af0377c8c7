// Replays one program and judges its calls.
#pragma once

#include <functional>
#include <string>

#include "program.h"

namespace programs {

enum class Status : uint32_t { Passed, Failed, Skipped };

struct Verdict {
  size_t call;
  Status status;
  std::string why; // the first difference, or why it was skipped
};

/// Gives one verdict for each thing that is judged, in order. Never throws.
void replay(const Program& program, const std::function<void(const Verdict&)>& give);

} // namespace programs
