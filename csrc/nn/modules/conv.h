// Convolutions and transposed convolutions.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/expanding_array.h>
#include <csrc/nn/modules/common.h>
#include <csrc/nn/modules/utils.h>
#include <csrc/nn/options/conv.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace torch::nn {

namespace detail {

/// Checks the options, registers weight and bias, and says how to pad where that is not the operator's work. Defined
/// for 1, 2 and 3 dimensions, as all here.
template <size_t D>
TORCH_API void reset_conv(
    Module& module,
    const ConvNdOptions<D>& options,
    Tensor& weight,
    Tensor& bias,
    std::vector<int64_t>& reversed_padding_repeated_twice);
TORCH_API void reset_conv_parameters(Tensor& weight, Tensor& bias);
template <size_t D>
TORCH_API void print_conv(std::ostream& stream, const ConvNdOptions<D>& options);
template <size_t D>
TORCH_API Tensor conv_forward(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    const ConvNdOptions<D>& options,
    const std::vector<int64_t>& reversed_padding_repeated_twice);

template <size_t D>
TORCH_API void check_conv_transpose(const ConvNdOptions<D>& options);
/// The output padding that leads to a result of `output_size`, which may have all dimensions or only the last D.
template <size_t D>
TORCH_API std::vector<int64_t> output_padding_for(
    const Tensor& input, const std::optional<at::IntArrayRef>& output_size, const ConvNdOptions<D>& options);
template <size_t D>
TORCH_API Tensor conv_transpose_forward(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    const std::optional<at::IntArrayRef>& output_size,
    const ConvNdOptions<D>& options);

} // namespace detail

/// What all convolutions have in common.
template <size_t D, typename Derived>
class ConvNdImpl : public Cloneable<Derived> {
 public:
  /// Throws for numbers of channels or groups that are not positive or do not divide.
  explicit ConvNdImpl(detail::ConvNdOptions<D> options_) : options(std::move(options_)) {
    ConvNdImpl::reset();
  }

  void reset() override {
    detail::reset_conv<D>(*this, options, weight, bias, _reversed_padding_repeated_twice);
  }
  /// Draws weight and bias from U(-k, k), k = 1 / sqrt(in_channels / groups * kernel size).
  void reset_parameters() {
    detail::reset_conv_parameters(weight, bias);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::print_conv<D>(stream, options);
  }

  detail::ConvNdOptions<D> options;
  /// [out_channels, in_channels / groups, kernel...]; transposed: [in_channels, out_channels / groups, kernel...].
  Tensor weight;
  /// [out_channels]; undefined without a bias.
  Tensor bias;

 protected:
  std::vector<int64_t> _reversed_padding_repeated_twice;
};

/// Convolution of [N, C, L] or [C, L].
class TORCH_API Conv1dImpl : public ConvNdImpl<1, Conv1dImpl> {
 public:
  Conv1dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<1> kernel_size);
  explicit Conv1dImpl(Conv1dOptions options_);

  Tensor forward(const Tensor& input);
};
using Conv1d = BuiltinHolder<Conv1dImpl>;

/// Convolution of [N, C, H, W] or [C, H, W].
class TORCH_API Conv2dImpl : public ConvNdImpl<2, Conv2dImpl> {
 public:
  Conv2dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<2> kernel_size);
  explicit Conv2dImpl(Conv2dOptions options_);

  Tensor forward(const Tensor& input);

 protected:
  Tensor _conv_forward(const Tensor& input, const Tensor& weight);
};
using Conv2d = BuiltinHolder<Conv2dImpl>;

/// Convolution of [N, C, D, H, W] or [C, D, H, W].
class TORCH_API Conv3dImpl : public ConvNdImpl<3, Conv3dImpl> {
 public:
  Conv3dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<3> kernel_size);
  explicit Conv3dImpl(Conv3dOptions options_);

  Tensor forward(const Tensor& input);
};
using Conv3d = BuiltinHolder<Conv3dImpl>;

/// What all transposed convolutions have in common.
template <size_t D, typename Derived>
class ConvTransposeNdImpl : public ConvNdImpl<D, Derived> {
 public:
  explicit ConvTransposeNdImpl(detail::ConvNdOptions<D> options_) : ConvNdImpl<D, Derived>(std::move(options_)) {
    detail::check_conv_transpose<D>(this->options);
  }

 protected:
  const ExpandingArray<D>& padding() const {
    return std::get<ExpandingArray<D>>(this->options.padding());
  }
};

/// Transposed convolution of [N, C, L] or [C, L]. `output_size` chooses among the sizes from which a convolution gives
/// the input's.
class TORCH_API ConvTranspose1dImpl : public ConvTransposeNdImpl<1, ConvTranspose1dImpl> {
 public:
  ConvTranspose1dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<1> kernel_size);
  explicit ConvTranspose1dImpl(ConvTranspose1dOptions options_);

  Tensor forward(const Tensor& input, const std::optional<at::IntArrayRef>& output_size = std::nullopt);

 protected:
  DefaultArgs _forward_default_args() override;
};
using ConvTranspose1d = BuiltinHolder<ConvTranspose1dImpl>;

/// Transposed convolution of [N, C, H, W] or [C, H, W]. `output_size` chooses among the sizes from which a convolution
/// gives the input's.
class TORCH_API ConvTranspose2dImpl : public ConvTransposeNdImpl<2, ConvTranspose2dImpl> {
 public:
  ConvTranspose2dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<2> kernel_size);
  explicit ConvTranspose2dImpl(ConvTranspose2dOptions options_);

  Tensor forward(const Tensor& input, const std::optional<at::IntArrayRef>& output_size = std::nullopt);

 protected:
  DefaultArgs _forward_default_args() override;
};
using ConvTranspose2d = BuiltinHolder<ConvTranspose2dImpl>;

/// Transposed convolution of [N, C, D, H, W] or [C, D, H, W]. `output_size` chooses among the sizes from which a
/// convolution gives the input's.
class TORCH_API ConvTranspose3dImpl : public ConvTransposeNdImpl<3, ConvTranspose3dImpl> {
 public:
  ConvTranspose3dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<3> kernel_size);
  explicit ConvTranspose3dImpl(ConvTranspose3dOptions options_);

  Tensor forward(const Tensor& input, const std::optional<at::IntArrayRef>& output_size = std::nullopt);

 protected:
  DefaultArgs _forward_default_args() override;
};
using ConvTranspose3d = BuiltinHolder<ConvTranspose3dImpl>;

} // namespace torch::nn
