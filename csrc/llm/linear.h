// The products with weights: the one place that knows in which form a weight is kept.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <cstdint>

namespace torch::llm {

/// x * weight^T + bias.
class TORCH_API Linear {
 public:
  Linear() = default;
  /// weight: (out, in), of any strides; bias: (out), or undefined.
  Linear(at::Tensor weight, at::Tensor bias);

  /// (..., in) -> (..., out) in the dtype of x.
  at::Tensor operator()(const at::Tensor& x) const;

  int64_t in_features() const;
  int64_t out_features() const;
  /// Bytes that a product reads.
  int64_t nbytes() const;

 private:
  at::Tensor weight_, bias_;
};

} // namespace torch::llm
