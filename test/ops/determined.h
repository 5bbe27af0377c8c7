// What the arguments determine of an operator's results, for comparing two implementations that may choose otherwise in
// the rest.
#pragma once

#include <string>
#include <vector>

#include "test/ops/boxed_op.h"

namespace test {

/// The results of `op`, called `name`, for `args`, with what is free replaced by what is not:
///   - an index among equal elements: by the element, and indices of one line must differ from each other;
///   - the order of topk's results that are not sorted: by the ascending one;
///   - vectors of decompositions, free in sign, phase and basis: by the product of the factors, and by V^H V;
///   - factors by pivots, of which several may be greatest: by the product of the factors;
///   - the kind of gelu in _addmm_activation, which devices choose: by nothing;
///   - eigenvalues of a general matrix, which come in any order: by their magnitudes in ascending order.
/// Results of other operators come back as they are. All tensors are on the CPU. Throws where an index is out of range.
std::vector<at::Tensor> determined(
    const std::string& name, const BoxedOp& op, const Stack& args, std::vector<at::Tensor> results);

} // namespace test
