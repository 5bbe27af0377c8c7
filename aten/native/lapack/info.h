// What LAPACK's info numbers mean, said as an error.
#pragma once

#include <aten/core/TensorBase.h>

#include <string_view>

namespace at::native::lapack {

/// Throws what the first number that is not zero stands for in the operator `api`. `is_matrix` says that the numbers
/// belong to one matrix and not to a batch.
void check_info(std::string_view api, const TensorBase& infos, bool is_matrix);

} // namespace at::native::lapack
