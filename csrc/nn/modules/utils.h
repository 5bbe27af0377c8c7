// Small helpers of modules.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace torch::nn::modules::utils {

/// Each value n times, the last value first: {1, 2} twice gives {2, 2, 1, 1}.
TORCH_API std::vector<int64_t> _reverse_repeat_vector(c10::ArrayRef<int64_t> t, int64_t n);

/// The sizes, with those of the last dimensions of `defaults` where none is given.
TORCH_API std::vector<int64_t> _list_with_default(
    c10::ArrayRef<std::optional<int64_t>> out_size, c10::IntArrayRef defaults);

} // namespace torch::nn::modules::utils
