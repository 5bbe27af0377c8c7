// The tensors among the arguments or results of a boxed call.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/stack.h>
#include <autograd/forward/forward_grad.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace torch::autograd::forward_ad {

/// A place that holds a tensor: value number `value`, or element number `element` of that list. Undefined where an
/// element of a list is.
struct TensorPlace {
  size_t value;
  size_t element;
  at::Tensor tensor;
};

using TensorPlaces = std::vector<TensorPlace>;

/// The places among the last `count` values, in their order.
TensorPlaces tensor_places(const torch::jit::Stack& stack, size_t count);

/// Puts the tensors of all places of a call there, after some have been replaced.
void put_tensors(torch::jit::Stack& stack, size_t count, const TensorPlaces& places);

/// The tangent at a level, undefined where there is none.
at::Tensor tangent_of(const at::Tensor& tensor, uint64_t level);

/// The highest level with a tangent that is not hidden.
std::optional<uint64_t> highest_level(const TensorPlaces& places);

/// Whether there are tangents at other levels too.
bool has_other_levels(const TensorPlaces& places, uint64_t level);

} // namespace torch::autograd::forward_ad
