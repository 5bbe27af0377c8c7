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

/// Gives one verdict for each thing that is judged, in order. Never throws. `texts`: errors of programs that must be
/// refused agree word for word.
void replay(const Program& program, bool texts, const std::function<void(const Verdict&)>& give);

} // namespace programs
