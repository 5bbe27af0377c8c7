// Changes of resolution.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/options/upsampling.h>

namespace torch::nn {

/// Interpolates [N, C, ...] to another size.
class TORCH_API UpsampleImpl : public Cloneable<UpsampleImpl> {
 public:
  explicit UpsampleImpl(UpsampleOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  UpsampleOptions options;
};
using Upsample = BuiltinHolder<UpsampleImpl>;

} // namespace torch::nn
