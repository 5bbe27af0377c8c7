// The tensors among the arguments or results of a boxed call.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/stack.h>
#include <autograd/forward/forward_grad.h>
#include <c10/util/SmallVector.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace torch::autograd::forward_ad {

/// A place that holds a tensor: value number `value`, or element number `element` of that list. Undefined where an
/// element of a list is.
struct TensorPlace {
  size_t value;
  size_t element;
  at::Tensor tensor;
  at::Tensor tangent = {}; // at the level of the call, once it has been read
};

using TensorPlaces = c10::SmallVector<TensorPlace, 4>;

/// The places among the last `count` values, in their order.
TensorPlaces tensor_places(const torch::jit::Stack& stack, size_t count);

/// Puts the tensors of all places of a call there, after some have been replaced.
void put_tensors(torch::jit::Stack& stack, size_t count, const TensorPlaces& places);

/// The tangent at a level, undefined where there is none.
at::Tensor tangent_of(const at::Tensor& tensor, uint64_t level);

/// What there is besides tangents at one level.
struct OtherLevels {
  bool of_tensors = false; // tangents at other levels that are not hidden
  bool of_tangents = false; // tangents of the tangents
};

/// The highest level with a tangent that is not hidden; reads the tangents there into their places.
std::optional<uint64_t> read_tangents(TensorPlaces& places, OtherLevels& others);

} // namespace torch::autograd::forward_ad
