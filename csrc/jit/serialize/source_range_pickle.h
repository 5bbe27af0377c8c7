// The debug records of archives: which places of the original source the printed code stands for.
#pragma once

#include <csrc/jit/frontend/source_range.h>

#include <string>

namespace torch::jit {

/// The content of a record `code/X.py.debug_pkl`, for the ranges of the text of `code/X.py`. Ranges in code that was
/// itself read from an archive stand for what that was made from, if it is known.
std::string pickle_source_ranges(const SourceRangeRecords& ranges);

} // namespace torch::jit
