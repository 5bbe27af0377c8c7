// Shapes of distances between rows. Every function throws on bad arguments.
#pragma once

#include <aten/core/TensorSpec.h>

#include <optional>

namespace at::shape {

TensorSpec cdist_forward(const char* op, const TensorBase& x1, const TensorBase& x2, double p, std::optional<int64_t> compute_mode);
TensorSpec cdist_backward(const char* op, const TensorBase& grad_output, const TensorBase& x1, const TensorBase& x2, double p, const TensorBase& cdist);
TensorSpec pdist_forward(const char* op, const TensorBase& self, double p);
TensorSpec pdist_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, double p, const TensorBase& pdist);
/// Checks of cdist in its own words.
void check_cdist(const TensorBase& x1, const TensorBase& x2, double p, std::optional<int64_t> compute_mode);

TensorSpec linalg_cross(const char* op, const TensorBase& self, const TensorBase& other, int64_t dim);

} // namespace at::shape
