// Sparse tensors of all layouts as arguments, and what must hold of them as results.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "test/fuzz/random.h"
#include "test/fuzz/tensors.h"

namespace fuzz {

bool is_sparse(const at::Tensor& tensor);

/// A sparse tensor of these sizes: by coordinates (coalesced or not, also hybrid), or with compressed rows or columns
/// where there are two dimensions or more (also blocked, batched, hybrid). Few of those by coordinates have places
/// outside of the tensor, as `_sparse_coo_tensor_unsafe` can make them.
at::Tensor make_sparse(c10::ScalarType dtype, const Shape& sizes, Values values, Random& random);

/// The same places and values, whose tensors lie otherwise in memory.
at::Tensor placed_sparse(const at::Tensor& tensor, Placing placing);

/// Indices and values.
std::vector<at::Tensor> members(const at::Tensor& sparse);

/// A tensor like `sparse` of other indices and values, on the device of these.
at::Tensor rebuilt(const at::Tensor& sparse, const std::vector<at::Tensor>& members);

/// What does not hold of a sparse tensor that must: "column 4 of a tensor [2, 3]". Nothing if all is well.
std::string broken_promise(const at::Tensor& sparse);

/// "SparseCsr float32 [2, 3]" and its members.
std::string describe_sparse(const at::Tensor& sparse);

} // namespace fuzz
