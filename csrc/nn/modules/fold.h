// Images as columns of patches, and back.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/options/fold.h>

namespace torch::nn {

/// Adds patches [N, C * kernel, L] up to images [N, C, H, W].
class TORCH_API FoldImpl : public Cloneable<FoldImpl> {
 public:
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size);
  explicit FoldImpl(const FoldOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  FoldOptions options;
};
using Fold = BuiltinHolder<FoldImpl>;

/// Takes the patches [N, C * kernel, L] out of images [N, C, H, W].
class TORCH_API UnfoldImpl : public Cloneable<UnfoldImpl> {
 public:
  UnfoldImpl(ExpandingArray<2> kernel_size);
  explicit UnfoldImpl(const UnfoldOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  UnfoldOptions options;
};
using Unfold = BuiltinHolder<UnfoldImpl>;

} // namespace torch::nn
