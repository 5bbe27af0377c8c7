// Lists of indices that samplers make. Private to their sources.
#pragma once

#include <cstddef>
#include <vector>

namespace torch::data::samplers {

/// `count` indices, all 0. Throws c10::OutOfMemoryError where there is no memory for them.
std::vector<size_t> make_index_list(const char* sampler, size_t count);

} // namespace torch::data::samplers
