#include <csrc/nn/modules/conv.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/nn/init.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

namespace torch::nn {

namespace detail {

namespace {

// Zeros on both sides of each dimension, for the operator.
template <size_t D>
std::vector<int64_t> symmetric_padding(const ConvNdOptions<D>& options) {
  const auto& padding = std::get<ExpandingArray<D>>(options.padding());
  return std::vector<int64_t>(padding->begin(), padding->end());
}

// How many elements to add before and after each dimension, the last dimension first.
template <size_t D>
std::vector<int64_t> reversed_padding(const ConvNdOptions<D>& options) {
  if (std::holds_alternative<enumtype::kValid>(options.padding())) {
    return std::vector<int64_t>(2 * D, 0);
  }
  if (!std::holds_alternative<enumtype::kSame>(options.padding())) {
    return modules::utils::_reverse_repeat_vector(std::get<ExpandingArray<D>>(options.padding()), 2);
  }
  std::vector<int64_t> padding;
  for (size_t i = D; i > 0; --i) {
    TORCH_CHECK(
        (*options.stride())[i - 1] == 1, "padding='same' is not supported for strided convolutions: stride is ",
        options.stride());
    const int64_t total = (*options.dilation())[i - 1] * ((*options.kernel_size())[i - 1] - 1);
    padding.push_back(total / 2);
    padding.push_back(total - total / 2);
  }
  return padding;
}

Tensor convolve(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    at::IntArrayRef stride,
    at::IntArrayRef padding,
    at::IntArrayRef dilation,
    int64_t groups) {
  switch (stride.size()) {
    case 1:
      return at::conv1d(input, weight, bias, stride, padding, dilation, groups);
    case 2:
      return at::conv2d(input, weight, bias, stride, padding, dilation, groups);
    default:
      return at::conv3d(input, weight, bias, stride, padding, dilation, groups);
  }
}

Tensor convolve(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    at::IntArrayRef stride,
    const char* padding,
    at::IntArrayRef dilation,
    int64_t groups) {
  switch (stride.size()) {
    case 1:
      return at::conv1d(input, weight, bias, stride, padding, dilation, groups);
    case 2:
      return at::conv2d(input, weight, bias, stride, padding, dilation, groups);
    default:
      return at::conv3d(input, weight, bias, stride, padding, dilation, groups);
  }
}

} // namespace

template <size_t D>
void reset_conv(
    Module& module,
    const ConvNdOptions<D>& options,
    Tensor& weight,
    Tensor& bias,
    std::vector<int64_t>& reversed_padding_repeated_twice) {
  TORCH_CHECK(
      options.in_channels() > 0 && options.groups() > 0 && options.out_channels() > 0,
      "in_channels, groups and out_channels must be a positive integer: they are ", options.in_channels(), ", ",
      options.groups(), " and ", options.out_channels());
  TORCH_CHECK(
      options.in_channels() % options.groups() == 0, "in_channels must be divisible by groups: ", options.in_channels(),
      " and ", options.groups());
  TORCH_CHECK(
      options.out_channels() % options.groups() == 0,
      "out_channels must be divisible by groups: ", options.out_channels(), " and ", options.groups());
  reversed_padding_repeated_twice = reversed_padding(options);
  std::vector<int64_t> sizes = options.transposed()
      ? std::vector<int64_t>{options.in_channels(), options.out_channels() / options.groups()}
      : std::vector<int64_t>{options.out_channels(), options.in_channels() / options.groups()};
  sizes.insert(sizes.end(), options.kernel_size()->begin(), options.kernel_size()->end());
  weight = module.register_parameter("weight", at::empty(sizes));
  bias = options.bias() ? module.register_parameter("bias", at::empty({options.out_channels()}))
                        : module.register_parameter("bias", Tensor(), /*requires_grad=*/false);
  reset_conv_parameters(weight, bias);
}

void reset_conv_parameters(Tensor& weight, Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5));
  if (bias.defined()) {
    const int64_t fan_in = std::get<0>(init::_calculate_fan_in_and_fan_out(weight));
    const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
    init::uniform_(bias, -bound, bound);
  }
}

template <size_t D>
void print_conv(std::ostream& stream, const ConvNdOptions<D>& options) {
  const auto all_are = [](const ExpandingArray<D>& array, int64_t value) {
    return std::all_of(array->begin(), array->end(), [value](int64_t element) { return element == value; });
  };
  stream << "torch::nn::Conv" << (options.transposed() ? "Transpose" : "") << D << "d(" << options.in_channels() << ", "
         << options.out_channels() << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride();
  if (std::holds_alternative<enumtype::kValid>(options.padding())) {
    stream << ", padding='valid'";
  } else if (std::holds_alternative<enumtype::kSame>(options.padding())) {
    stream << ", padding='same'";
  } else if (const auto& padding = std::get<ExpandingArray<D>>(options.padding()); !all_are(padding, 0)) {
    stream << ", padding=" << padding;
  }
  if (!all_are(options.dilation(), 1)) {
    stream << ", dilation=" << options.dilation();
  }
  if (!all_are(options.output_padding(), 0)) {
    stream << ", output_padding=" << options.output_padding();
  }
  if (options.groups() != 1) {
    stream << ", groups=" << options.groups();
  }
  if (!options.bias()) {
    stream << ", bias=" << std::boolalpha << options.bias();
  }
  if (!std::holds_alternative<enumtype::kZeros>(options.padding_mode())) {
    stream << ", padding_mode=" << enumtype::get_enum_name(options.padding_mode());
  }
  stream << ")";
}

template <size_t D>
Tensor conv_forward(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    const ConvNdOptions<D>& options,
    const std::vector<int64_t>& reversed_padding_repeated_twice) {
  if (!std::holds_alternative<enumtype::kZeros>(options.padding_mode())) {
    // "kReflect" is "reflect" for the operator.
    std::string mode = enumtype::get_enum_name(options.padding_mode()).substr(1);
    mode[0] = static_cast<char>(mode[0] - 'A' + 'a');
    const Tensor padded = at::pad(input, reversed_padding_repeated_twice, mode);
    const std::vector<int64_t> no_padding(D, 0);
    return convolve(
        padded, weight, bias, options.stride(), at::IntArrayRef(no_padding), options.dilation(), options.groups());
  }
  if (std::holds_alternative<enumtype::kValid>(options.padding())) {
    return convolve(input, weight, bias, options.stride(), "valid", options.dilation(), options.groups());
  }
  if (std::holds_alternative<enumtype::kSame>(options.padding())) {
    return convolve(input, weight, bias, options.stride(), "same", options.dilation(), options.groups());
  }
  const std::vector<int64_t> padding = symmetric_padding(options);
  return convolve(
      input, weight, bias, options.stride(), at::IntArrayRef(padding), options.dilation(), options.groups());
}

template <size_t D>
void check_conv_transpose(const ConvNdOptions<D>& options) {
  TORCH_CHECK(std::holds_alternative<ExpandingArray<D>>(options.padding()), "ConvTranspose padding cannot be a string");
}

template <size_t D>
std::vector<int64_t> output_padding_for(
    const Tensor& input, const std::optional<at::IntArrayRef>& output_size, const ConvNdOptions<D>& options) {
  if (!output_size) {
    return std::vector<int64_t>(options.output_padding()->begin(), options.output_padding()->end());
  }
  const size_t leading = static_cast<size_t>(input.dim()) - D;
  TORCH_CHECK(
      output_size->size() == D || output_size->size() == D + leading, "ConvTranspose", D, "D: for ", input.dim(),
      "D input, output_size must have ", D, " or ", D + leading, " elements (got ", output_size->size(), ")");
  const at::IntArrayRef wanted = output_size->slice(output_size->size() - D);
  std::vector<int64_t> output_padding;
  for (size_t i = 0; i < D; ++i) {
    const int64_t stride = (*options.stride())[i];
    const int64_t smallest = (input.size(static_cast<int64_t>(leading + i)) - 1) * stride -
        2 * std::get<ExpandingArray<D>>(options.padding())->at(i) +
        (*options.dilation())[i] * ((*options.kernel_size())[i] - 1) + 1;
    TORCH_CHECK(
        wanted[i] >= smallest && wanted[i] <= smallest + stride - 1, "requested an output size of ", wanted,
        ", but valid sizes of dimension ", i, " range from ", smallest, " to ", smallest + stride - 1,
        " (for an input of ", input.sizes().slice(leading), ")");
    output_padding.push_back(wanted[i] - smallest);
  }
  return output_padding;
}

template <size_t D>
Tensor conv_transpose_forward(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& bias,
    const std::optional<at::IntArrayRef>& output_size,
    const ConvNdOptions<D>& options) {
  TORCH_CHECK(
      std::holds_alternative<enumtype::kZeros>(options.padding_mode()),
      "Only `zeros` padding mode is supported for ConvTranspose", D, "d");
  TORCH_CHECK(
      input.dim() == D + 1 || input.dim() == D + 2, "ConvTranspose", D, "d: expected ", D + 1, "D (unbatched) or ",
      D + 2, "D (batched) input, but got input of sizes ", input.sizes());
  const std::vector<int64_t> output_padding = output_padding_for(input, output_size, options);
  const std::vector<int64_t> padding = symmetric_padding(options);
  const auto run = [&](auto conv_transpose) {
    return conv_transpose(
        input, weight, bias, options.stride(), padding, output_padding, options.groups(), options.dilation());
  };
  if constexpr (D == 1) {
    return run([](auto&&... args) { return at::conv_transpose1d(args...); });
  } else if constexpr (D == 2) {
    return run([](auto&&... args) { return at::conv_transpose2d(args...); });
  } else {
    return run([](auto&&... args) { return at::conv_transpose3d(args...); });
  }
}

template void reset_conv<1>(Module&, const ConvNdOptions<1>&, Tensor&, Tensor&, std::vector<int64_t>&);
template void print_conv<1>(std::ostream&, const ConvNdOptions<1>&);
template Tensor conv_forward<1>(
    const Tensor&, const Tensor&, const Tensor&, const ConvNdOptions<1>&, const std::vector<int64_t>&);
template void check_conv_transpose<1>(const ConvNdOptions<1>&);
template std::vector<int64_t> output_padding_for<1>(
    const Tensor&, const std::optional<at::IntArrayRef>&, const ConvNdOptions<1>&);
template Tensor conv_transpose_forward<1>(
    const Tensor&, const Tensor&, const Tensor&, const std::optional<at::IntArrayRef>&, const ConvNdOptions<1>&);

template void reset_conv<2>(Module&, const ConvNdOptions<2>&, Tensor&, Tensor&, std::vector<int64_t>&);
template void print_conv<2>(std::ostream&, const ConvNdOptions<2>&);
template Tensor conv_forward<2>(
    const Tensor&, const Tensor&, const Tensor&, const ConvNdOptions<2>&, const std::vector<int64_t>&);
template void check_conv_transpose<2>(const ConvNdOptions<2>&);
template std::vector<int64_t> output_padding_for<2>(
    const Tensor&, const std::optional<at::IntArrayRef>&, const ConvNdOptions<2>&);
template Tensor conv_transpose_forward<2>(
    const Tensor&, const Tensor&, const Tensor&, const std::optional<at::IntArrayRef>&, const ConvNdOptions<2>&);

template void reset_conv<3>(Module&, const ConvNdOptions<3>&, Tensor&, Tensor&, std::vector<int64_t>&);
template void print_conv<3>(std::ostream&, const ConvNdOptions<3>&);
template Tensor conv_forward<3>(
    const Tensor&, const Tensor&, const Tensor&, const ConvNdOptions<3>&, const std::vector<int64_t>&);
template void check_conv_transpose<3>(const ConvNdOptions<3>&);
template std::vector<int64_t> output_padding_for<3>(
    const Tensor&, const std::optional<at::IntArrayRef>&, const ConvNdOptions<3>&);
template Tensor conv_transpose_forward<3>(
    const Tensor&, const Tensor&, const Tensor&, const std::optional<at::IntArrayRef>&, const ConvNdOptions<3>&);

} // namespace detail

namespace {

template <size_t D>
detail::ConvNdOptions<D> nd_options(const ConvOptions<D>& options) {
  return detail::ConvNdOptions<D>(options.in_channels(), options.out_channels(), options.kernel_size())
      .stride(options.stride())
      .padding(options.padding())
      .dilation(options.dilation())
      .groups(options.groups())
      .bias(options.bias())
      .padding_mode(options.padding_mode());
}

template <size_t D>
detail::ConvNdOptions<D> nd_options(const ConvTransposeOptions<D>& options) {
  return detail::ConvNdOptions<D>(options.in_channels(), options.out_channels(), options.kernel_size())
      .stride(options.stride())
      .padding(detail::conv_padding_t<D>(options.padding()))
      .dilation(options.dilation())
      .transposed(true)
      .output_padding(options.output_padding())
      .groups(options.groups())
      .bias(options.bias())
      .padding_mode(options.padding_mode());
}

} // namespace

Conv1dImpl::Conv1dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<1> kernel_size)
    : Conv1dImpl(Conv1dOptions(input_channels, output_channels, kernel_size)) {}

Conv1dImpl::Conv1dImpl(Conv1dOptions options_) : ConvNdImpl(nd_options(options_)) {}

Tensor Conv1dImpl::forward(const Tensor& input) {
  return detail::conv_forward<1>(input, weight, bias, options, _reversed_padding_repeated_twice);
}

Conv2dImpl::Conv2dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<2> kernel_size)
    : Conv2dImpl(Conv2dOptions(input_channels, output_channels, kernel_size)) {}

Conv2dImpl::Conv2dImpl(Conv2dOptions options_) : ConvNdImpl(nd_options(options_)) {}

Tensor Conv2dImpl::forward(const Tensor& input) {
  return _conv_forward(input, weight);
}

Tensor Conv2dImpl::_conv_forward(const Tensor& input, const Tensor& weight) {
  return detail::conv_forward<2>(input, weight, bias, options, _reversed_padding_repeated_twice);
}

Conv3dImpl::Conv3dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<3> kernel_size)
    : Conv3dImpl(Conv3dOptions(input_channels, output_channels, kernel_size)) {}

Conv3dImpl::Conv3dImpl(Conv3dOptions options_) : ConvNdImpl(nd_options(options_)) {}

Tensor Conv3dImpl::forward(const Tensor& input) {
  return detail::conv_forward<3>(input, weight, bias, options, _reversed_padding_repeated_twice);
}

ConvTranspose1dImpl::ConvTranspose1dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<1> kernel_size)
    : ConvTranspose1dImpl(ConvTranspose1dOptions(input_channels, output_channels, kernel_size)) {}

ConvTranspose1dImpl::ConvTranspose1dImpl(ConvTranspose1dOptions options_) : ConvTransposeNdImpl(nd_options(options_)) {}

Tensor ConvTranspose1dImpl::forward(const Tensor& input, const std::optional<at::IntArrayRef>& output_size) {
  return detail::conv_transpose_forward<1>(input, weight, bias, output_size, options);
}

ConvTranspose2dImpl::ConvTranspose2dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<2> kernel_size)
    : ConvTranspose2dImpl(ConvTranspose2dOptions(input_channels, output_channels, kernel_size)) {}

ConvTranspose2dImpl::ConvTranspose2dImpl(ConvTranspose2dOptions options_) : ConvTransposeNdImpl(nd_options(options_)) {}

Tensor ConvTranspose2dImpl::forward(const Tensor& input, const std::optional<at::IntArrayRef>& output_size) {
  return detail::conv_transpose_forward<2>(input, weight, bias, output_size, options);
}

ConvTranspose3dImpl::ConvTranspose3dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<3> kernel_size)
    : ConvTranspose3dImpl(ConvTranspose3dOptions(input_channels, output_channels, kernel_size)) {}

ConvTranspose3dImpl::ConvTranspose3dImpl(ConvTranspose3dOptions options_) : ConvTransposeNdImpl(nd_options(options_)) {}

Tensor ConvTranspose3dImpl::forward(const Tensor& input, const std::optional<at::IntArrayRef>& output_size) {
  return detail::conv_transpose_forward<3>(input, weight, bias, output_size, options);
}

Module::DefaultArgs ConvTranspose1dImpl::_forward_default_args() {
  return {{1, AnyValue(std::optional<at::IntArrayRef>())}};
}

Module::DefaultArgs ConvTranspose2dImpl::_forward_default_args() {
  return {{1, AnyValue(std::optional<at::IntArrayRef>())}};
}

Module::DefaultArgs ConvTranspose3dImpl::_forward_default_args() {
  return {{1, AnyValue(std::optional<at::IntArrayRef>())}};
}

} // namespace torch::nn
