// Pooling: one element for each window of the last dimensions.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/expanding_array.h>
#include <csrc/nn/modules/common.h>
#include <csrc/nn/options/pooling.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace torch::nn {

/// The mean of each window.
template <size_t D, typename Derived>
class TORCH_API AvgPoolImpl : public Cloneable<Derived> {
 public:
  AvgPoolImpl(ExpandingArray<D> kernel_size) : AvgPoolImpl(AvgPoolOptions<D>(kernel_size)) {}
  explicit AvgPoolImpl(const AvgPoolOptions<D>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  AvgPoolOptions<D> options;
};

class TORCH_API AvgPool1dImpl : public AvgPoolImpl<1, AvgPool1dImpl> {
 public:
  using AvgPoolImpl<1, AvgPool1dImpl>::AvgPoolImpl;
  Tensor forward(const Tensor& input);
};
using AvgPool1d = BuiltinHolder<AvgPool1dImpl>;

class TORCH_API AvgPool2dImpl : public AvgPoolImpl<2, AvgPool2dImpl> {
 public:
  using AvgPoolImpl<2, AvgPool2dImpl>::AvgPoolImpl;
  Tensor forward(const Tensor& input);
};
using AvgPool2d = BuiltinHolder<AvgPool2dImpl>;

class TORCH_API AvgPool3dImpl : public AvgPoolImpl<3, AvgPool3dImpl> {
 public:
  using AvgPoolImpl<3, AvgPool3dImpl>::AvgPoolImpl;
  Tensor forward(const Tensor& input);
};
using AvgPool3d = BuiltinHolder<AvgPool3dImpl>;

/// The maximum of each window; indices count in the flattened window dimensions of the input.
template <size_t D, typename Derived>
class TORCH_API MaxPoolImpl : public Cloneable<Derived> {
 public:
  MaxPoolImpl(ExpandingArray<D> kernel_size) : MaxPoolImpl(MaxPoolOptions<D>(kernel_size)) {}
  explicit MaxPoolImpl(const MaxPoolOptions<D>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  MaxPoolOptions<D> options;
};

class TORCH_API MaxPool1dImpl : public MaxPoolImpl<1, MaxPool1dImpl> {
 public:
  using MaxPoolImpl<1, MaxPool1dImpl>::MaxPoolImpl;
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using MaxPool1d = BuiltinHolder<MaxPool1dImpl>;

class TORCH_API MaxPool2dImpl : public MaxPoolImpl<2, MaxPool2dImpl> {
 public:
  using MaxPoolImpl<2, MaxPool2dImpl>::MaxPoolImpl;
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using MaxPool2d = BuiltinHolder<MaxPool2dImpl>;

class TORCH_API MaxPool3dImpl : public MaxPoolImpl<3, MaxPool3dImpl> {
 public:
  using MaxPoolImpl<3, MaxPool3dImpl>::MaxPoolImpl;
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using MaxPool3d = BuiltinHolder<MaxPool3dImpl>;

/// The maximum of windows chosen so that the result has `output_size`.
template <size_t D, typename output_size_t, typename Derived>
class TORCH_API AdaptiveMaxPoolImpl : public Cloneable<Derived> {
 public:
  AdaptiveMaxPoolImpl(output_size_t output_size)
      : AdaptiveMaxPoolImpl(AdaptiveMaxPoolOptions<output_size_t>(output_size)) {}
  explicit AdaptiveMaxPoolImpl(const AdaptiveMaxPoolOptions<output_size_t>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  AdaptiveMaxPoolOptions<output_size_t> options;
};

class TORCH_API AdaptiveMaxPool1dImpl : public AdaptiveMaxPoolImpl<1, ExpandingArray<1>, AdaptiveMaxPool1dImpl> {
 public:
  using AdaptiveMaxPoolImpl<1, ExpandingArray<1>, AdaptiveMaxPool1dImpl>::AdaptiveMaxPoolImpl;
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using AdaptiveMaxPool1d = BuiltinHolder<AdaptiveMaxPool1dImpl>;

class TORCH_API AdaptiveMaxPool2dImpl
    : public AdaptiveMaxPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveMaxPool2dImpl> {
 public:
  using AdaptiveMaxPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveMaxPool2dImpl>::AdaptiveMaxPoolImpl;
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using AdaptiveMaxPool2d = BuiltinHolder<AdaptiveMaxPool2dImpl>;

class TORCH_API AdaptiveMaxPool3dImpl
    : public AdaptiveMaxPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveMaxPool3dImpl> {
 public:
  using AdaptiveMaxPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveMaxPool3dImpl>::AdaptiveMaxPoolImpl;
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using AdaptiveMaxPool3d = BuiltinHolder<AdaptiveMaxPool3dImpl>;

/// The mean of windows chosen so that the result has `output_size`.
template <size_t D, typename output_size_t, typename Derived>
class TORCH_API AdaptiveAvgPoolImpl : public Cloneable<Derived> {
 public:
  AdaptiveAvgPoolImpl(output_size_t output_size)
      : AdaptiveAvgPoolImpl(AdaptiveAvgPoolOptions<output_size_t>(output_size)) {}
  explicit AdaptiveAvgPoolImpl(const AdaptiveAvgPoolOptions<output_size_t>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  AdaptiveAvgPoolOptions<output_size_t> options;
};

class TORCH_API AdaptiveAvgPool1dImpl : public AdaptiveAvgPoolImpl<1, ExpandingArray<1>, AdaptiveAvgPool1dImpl> {
 public:
  using AdaptiveAvgPoolImpl<1, ExpandingArray<1>, AdaptiveAvgPool1dImpl>::AdaptiveAvgPoolImpl;
  Tensor forward(const Tensor& input);
};
using AdaptiveAvgPool1d = BuiltinHolder<AdaptiveAvgPool1dImpl>;

class TORCH_API AdaptiveAvgPool2dImpl
    : public AdaptiveAvgPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveAvgPool2dImpl> {
 public:
  using AdaptiveAvgPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveAvgPool2dImpl>::AdaptiveAvgPoolImpl;
  Tensor forward(const Tensor& input);
};
using AdaptiveAvgPool2d = BuiltinHolder<AdaptiveAvgPool2dImpl>;

class TORCH_API AdaptiveAvgPool3dImpl
    : public AdaptiveAvgPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveAvgPool3dImpl> {
 public:
  using AdaptiveAvgPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveAvgPool3dImpl>::AdaptiveAvgPoolImpl;
  Tensor forward(const Tensor& input);
};
using AdaptiveAvgPool3d = BuiltinHolder<AdaptiveAvgPool3dImpl>;

/// Puts elements back to where max pooling found them, among zeros.
template <size_t D, typename Derived>
class TORCH_API MaxUnpoolImpl : public Cloneable<Derived> {
 public:
  MaxUnpoolImpl(ExpandingArray<D> kernel_size) : MaxUnpoolImpl(MaxUnpoolOptions<D>(kernel_size)) {}
  explicit MaxUnpoolImpl(const MaxUnpoolOptions<D>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  MaxUnpoolOptions<D> options;
};

class TORCH_API MaxUnpool1dImpl : public MaxUnpoolImpl<1, MaxUnpool1dImpl> {
 public:
  using MaxUnpoolImpl<1, MaxUnpool1dImpl>::MaxUnpoolImpl;
  Tensor forward(
      const Tensor& input,
      const Tensor& indices,
      const std::optional<std::vector<int64_t>>& output_size = std::nullopt);

 protected:
  DefaultArgs _forward_default_args() override;
};
using MaxUnpool1d = BuiltinHolder<MaxUnpool1dImpl>;

class TORCH_API MaxUnpool2dImpl : public MaxUnpoolImpl<2, MaxUnpool2dImpl> {
 public:
  using MaxUnpoolImpl<2, MaxUnpool2dImpl>::MaxUnpoolImpl;
  Tensor forward(
      const Tensor& input,
      const Tensor& indices,
      const std::optional<std::vector<int64_t>>& output_size = std::nullopt);

 protected:
  DefaultArgs _forward_default_args() override;
};
using MaxUnpool2d = BuiltinHolder<MaxUnpool2dImpl>;

class TORCH_API MaxUnpool3dImpl : public MaxUnpoolImpl<3, MaxUnpool3dImpl> {
 public:
  using MaxUnpoolImpl<3, MaxUnpool3dImpl>::MaxUnpoolImpl;
  Tensor forward(
      const Tensor& input,
      const Tensor& indices,
      const std::optional<std::vector<int64_t>>& output_size = std::nullopt);

 protected:
  DefaultArgs _forward_default_args() override;
};
using MaxUnpool3d = BuiltinHolder<MaxUnpool3dImpl>;

/// The maximum of windows of random places (Graham 2014). Exactly one of output_size and output_ratio is given.
class TORCH_API FractionalMaxPool2dImpl : public Cloneable<FractionalMaxPool2dImpl> {
 public:
  FractionalMaxPool2dImpl(ExpandingArray<2> kernel_size);
  explicit FractionalMaxPool2dImpl(FractionalMaxPool2dOptions options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);

  FractionalMaxPool2dOptions options;
  Tensor _random_samples;
};
using FractionalMaxPool2d = BuiltinHolder<FractionalMaxPool2dImpl>;

/// The maximum of windows of random places (Graham 2014). Exactly one of output_size and output_ratio is given.
class TORCH_API FractionalMaxPool3dImpl : public Cloneable<FractionalMaxPool3dImpl> {
 public:
  FractionalMaxPool3dImpl(ExpandingArray<3> kernel_size);
  explicit FractionalMaxPool3dImpl(FractionalMaxPool3dOptions options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);

  FractionalMaxPool3dOptions options;
  Tensor _random_samples;
};
using FractionalMaxPool3d = BuiltinHolder<FractionalMaxPool3dImpl>;

/// (sum of x^p over the window)^(1/p), p being norm_type.
template <size_t D, typename Derived>
class TORCH_API LPPoolImpl : public Cloneable<Derived> {
 public:
  LPPoolImpl(double norm_type, ExpandingArray<D> kernel_size) : LPPoolImpl(LPPoolOptions<D>(norm_type, kernel_size)) {}
  explicit LPPoolImpl(const LPPoolOptions<D>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  LPPoolOptions<D> options;
};

class TORCH_API LPPool1dImpl : public LPPoolImpl<1, LPPool1dImpl> {
 public:
  using LPPoolImpl<1, LPPool1dImpl>::LPPoolImpl;
  Tensor forward(const Tensor& input);
};
using LPPool1d = BuiltinHolder<LPPool1dImpl>;

class TORCH_API LPPool2dImpl : public LPPoolImpl<2, LPPool2dImpl> {
 public:
  using LPPoolImpl<2, LPPool2dImpl>::LPPoolImpl;
  Tensor forward(const Tensor& input);
};
using LPPool2d = BuiltinHolder<LPPool2dImpl>;

class TORCH_API LPPool3dImpl : public LPPoolImpl<3, LPPool3dImpl> {
 public:
  using LPPoolImpl<3, LPPool3dImpl>::LPPoolImpl;
  Tensor forward(const Tensor& input);
};
using LPPool3d = BuiltinHolder<LPPool3dImpl>;

} // namespace torch::nn
