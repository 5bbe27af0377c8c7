// States of samplers in archives: one-element tensors, as libtorch stores them. Private to the samplers' sources.
#pragma once

#include <aten/core/Tensor.h>

#include <cstddef>
#include <limits>

namespace torch::serialize {
class OutputArchive;
class InputArchive;
} // namespace torch::serialize

namespace torch::data::samplers {

void save_number(serialize::OutputArchive& archive, const char* key, size_t value);
/// Throws unless `least` <= value <= `most`.
size_t load_number(
    serialize::InputArchive& archive,
    const char* sampler,
    const char* key,
    size_t most = static_cast<size_t>(std::numeric_limits<int64_t>::max()),
    size_t least = 0);

void save_tensor(serialize::OutputArchive& archive, const char* key, const at::Tensor& tensor);
/// Throws unless it is a list of numbers that can be indices.
at::Tensor load_indices(serialize::InputArchive& archive, const char* sampler, const char* key);

} // namespace torch::data::samplers
