// Names of types in signatures of derivative helpers. The generator copies those signatures to where entries call the
// helpers.
#pragma once

#include <aten/core/TensorGeometry.h>
#include <aten/core/List.h>
#include <aten/core/Tensor.h>

#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace torch::autograd::formulas {

using at::IntArrayRef;
using at::OptionalIntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using IndexList = c10::List<std::optional<Tensor>>;
using TensorTuple3 = std::tuple<Tensor, Tensor, Tensor>;
using TensorTuple5 = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

} // namespace torch::autograd::formulas
