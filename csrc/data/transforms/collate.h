#pragma once

#include <csrc/data/transforms/lambda.h>

#include <vector>

namespace torch::data::transforms {

/// Makes one value of a list of examples.
template <typename T, typename BatchType = std::vector<T>>
using Collation = BatchTransform<BatchType, T>;

/// A collation made of a function.
template <typename T, typename BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;

} // namespace torch::data::transforms
