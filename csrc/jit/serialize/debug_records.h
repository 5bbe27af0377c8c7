// Where the code in archives came from.
#pragma once

#include <csrc/jit/frontend/source_range.h>

#include <functional>
#include <memory>
#include <string>

namespace torch::jit {

/// Reads a debug record, "....py.debug_pkl", when an error first asks for it. `record` gives its bytes, empty if there
/// are none. A damaged record counts as none: an error of the program shall not be hidden by another.
std::shared_ptr<SourceRangeUnpickler> debugRecord(std::function<std::string()> record);

} // namespace torch::jit
