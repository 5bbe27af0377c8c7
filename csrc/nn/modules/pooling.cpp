#include <csrc/nn/modules/pooling.h>

#include <c10/util/Exception.h>
#include <csrc/nn/functional/pooling.h>

#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

template <size_t D, typename Derived>
AvgPoolImpl<D, Derived>::AvgPoolImpl(const AvgPoolOptions<D>& options_) : options(options_) {}

template <size_t D, typename Derived>
void AvgPoolImpl<D, Derived>::reset() {}

template <size_t D, typename Derived>
void AvgPoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AvgPool" << D << "d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
         << ", padding=" << options.padding() << ")";
}

template class AvgPoolImpl<1, AvgPool1dImpl>;
template class AvgPoolImpl<2, AvgPool2dImpl>;
template class AvgPoolImpl<3, AvgPool3dImpl>;

Tensor AvgPool1dImpl::forward(const Tensor& input) {
  return F::avg_pool1d(input, options);
}

Tensor AvgPool2dImpl::forward(const Tensor& input) {
  return F::avg_pool2d(input, options);
}

Tensor AvgPool3dImpl::forward(const Tensor& input) {
  return F::avg_pool3d(input, options);
}

template <size_t D, typename Derived>
MaxPoolImpl<D, Derived>::MaxPoolImpl(const MaxPoolOptions<D>& options_) : options(options_) {}

template <size_t D, typename Derived>
void MaxPoolImpl<D, Derived>::reset() {}

template <size_t D, typename Derived>
void MaxPoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::MaxPool" << D << "d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding() << ", dilation=" << options.dilation()
         << ", ceil_mode=" << options.ceil_mode() << ")";
}

template class MaxPoolImpl<1, MaxPool1dImpl>;
template class MaxPoolImpl<2, MaxPool2dImpl>;
template class MaxPoolImpl<3, MaxPool3dImpl>;

Tensor MaxPool1dImpl::forward(const Tensor& input) {
  return F::max_pool1d(input, options);
}

std::tuple<Tensor, Tensor> MaxPool1dImpl::forward_with_indices(const Tensor& input) {
  return F::max_pool1d_with_indices(input, options);
}

Tensor MaxPool2dImpl::forward(const Tensor& input) {
  return F::max_pool2d(input, options);
}

std::tuple<Tensor, Tensor> MaxPool2dImpl::forward_with_indices(const Tensor& input) {
  return F::max_pool2d_with_indices(input, options);
}

Tensor MaxPool3dImpl::forward(const Tensor& input) {
  return F::max_pool3d(input, options);
}

std::tuple<Tensor, Tensor> MaxPool3dImpl::forward_with_indices(const Tensor& input) {
  return F::max_pool3d_with_indices(input, options);
}

template <size_t D, typename output_size_t, typename Derived>
AdaptiveMaxPoolImpl<D, output_size_t, Derived>::AdaptiveMaxPoolImpl(
    const AdaptiveMaxPoolOptions<output_size_t>& options_)
    : options(options_) {}

template <size_t D, typename output_size_t, typename Derived>
void AdaptiveMaxPoolImpl<D, output_size_t, Derived>::reset() {}

template <size_t D, typename output_size_t, typename Derived>
void AdaptiveMaxPoolImpl<D, output_size_t, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveMaxPool" << D << "d(output_size=" << options.output_size() << ")";
}

template class AdaptiveMaxPoolImpl<1, ExpandingArray<1>, AdaptiveMaxPool1dImpl>;
template class AdaptiveMaxPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveMaxPool2dImpl>;
template class AdaptiveMaxPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveMaxPool3dImpl>;

Tensor AdaptiveMaxPool1dImpl::forward(const Tensor& input) {
  return F::adaptive_max_pool1d(input, options);
}

std::tuple<Tensor, Tensor> AdaptiveMaxPool1dImpl::forward_with_indices(const Tensor& input) {
  return F::adaptive_max_pool1d_with_indices(input, options);
}

Tensor AdaptiveMaxPool2dImpl::forward(const Tensor& input) {
  return F::adaptive_max_pool2d(input, options);
}

std::tuple<Tensor, Tensor> AdaptiveMaxPool2dImpl::forward_with_indices(const Tensor& input) {
  return F::adaptive_max_pool2d_with_indices(input, options);
}

Tensor AdaptiveMaxPool3dImpl::forward(const Tensor& input) {
  return F::adaptive_max_pool3d(input, options);
}

std::tuple<Tensor, Tensor> AdaptiveMaxPool3dImpl::forward_with_indices(const Tensor& input) {
  return F::adaptive_max_pool3d_with_indices(input, options);
}

template <size_t D, typename output_size_t, typename Derived>
AdaptiveAvgPoolImpl<D, output_size_t, Derived>::AdaptiveAvgPoolImpl(
    const AdaptiveAvgPoolOptions<output_size_t>& options_)
    : options(options_) {}

template <size_t D, typename output_size_t, typename Derived>
void AdaptiveAvgPoolImpl<D, output_size_t, Derived>::reset() {}

template <size_t D, typename output_size_t, typename Derived>
void AdaptiveAvgPoolImpl<D, output_size_t, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveAvgPool" << D << "d(output_size=" << options.output_size() << ")";
}

template class AdaptiveAvgPoolImpl<1, ExpandingArray<1>, AdaptiveAvgPool1dImpl>;
template class AdaptiveAvgPoolImpl<2, ExpandingArrayWithOptionalElem<2>, AdaptiveAvgPool2dImpl>;
template class AdaptiveAvgPoolImpl<3, ExpandingArrayWithOptionalElem<3>, AdaptiveAvgPool3dImpl>;

Tensor AdaptiveAvgPool1dImpl::forward(const Tensor& input) {
  return F::adaptive_avg_pool1d(input, options);
}

Tensor AdaptiveAvgPool2dImpl::forward(const Tensor& input) {
  return F::adaptive_avg_pool2d(input, options);
}

Tensor AdaptiveAvgPool3dImpl::forward(const Tensor& input) {
  return F::adaptive_avg_pool3d(input, options);
}

template <size_t D, typename Derived>
MaxUnpoolImpl<D, Derived>::MaxUnpoolImpl(const MaxUnpoolOptions<D>& options_) : options(options_) {}

template <size_t D, typename Derived>
void MaxUnpoolImpl<D, Derived>::reset() {}

template <size_t D, typename Derived>
void MaxUnpoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::MaxUnpool" << D << "d(kernel_size=" << options.kernel_size()
         << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";
}

template class MaxUnpoolImpl<1, MaxUnpool1dImpl>;
template class MaxUnpoolImpl<2, MaxUnpool2dImpl>;
template class MaxUnpoolImpl<3, MaxUnpool3dImpl>;

Tensor MaxUnpool1dImpl::forward(
    const Tensor& input, const Tensor& indices, const std::optional<std::vector<int64_t>>& output_size) {
  return F::max_unpool1d(
      input, indices,
      F::MaxUnpool1dFuncOptions(options.kernel_size())
          .stride(options.stride())
          .padding(options.padding())
          .output_size(output_size));
}

Tensor MaxUnpool2dImpl::forward(
    const Tensor& input, const Tensor& indices, const std::optional<std::vector<int64_t>>& output_size) {
  return F::max_unpool2d(
      input, indices,
      F::MaxUnpool2dFuncOptions(options.kernel_size())
          .stride(options.stride())
          .padding(options.padding())
          .output_size(output_size));
}

Tensor MaxUnpool3dImpl::forward(
    const Tensor& input, const Tensor& indices, const std::optional<std::vector<int64_t>>& output_size) {
  return F::max_unpool3d(
      input, indices,
      F::MaxUnpool3dFuncOptions(options.kernel_size())
          .stride(options.stride())
          .padding(options.padding())
          .output_size(output_size));
}

namespace {

template <size_t D>
void check_fractional(const FractionalMaxPoolOptions<D>& options) {
  TORCH_CHECK(
      options.output_size().has_value() != options.output_ratio().has_value(), "FractionalMaxPool", D,
      "d requires specifying exactly one of an output size and an output ratio; it has ",
      options.output_size() ? "both" : "neither");
  if (options.output_ratio()) {
    for (const double ratio : **options.output_ratio()) {
      TORCH_CHECK(ratio > 0 && ratio < 1, "output_ratio must be between 0 and 1 (got ", *options.output_ratio(), ")");
    }
  }
}

} // namespace

FractionalMaxPool2dImpl::FractionalMaxPool2dImpl(ExpandingArray<2> kernel_size)
    : FractionalMaxPool2dImpl(FractionalMaxPool2dOptions(kernel_size)) {}

FractionalMaxPool2dImpl::FractionalMaxPool2dImpl(FractionalMaxPool2dOptions options_) : options(std::move(options_)) {
  FractionalMaxPool2dImpl::reset();
}

void FractionalMaxPool2dImpl::reset() {
  check_fractional(options);
  _random_samples = register_buffer("_random_samples", options._random_samples());
}

void FractionalMaxPool2dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::FractionalMaxPool2d()";
}

Tensor FractionalMaxPool2dImpl::forward(const Tensor& input) {
  return std::get<0>(forward_with_indices(input));
}

std::tuple<Tensor, Tensor> FractionalMaxPool2dImpl::forward_with_indices(const Tensor& input) {
  FractionalMaxPool2dOptions with_samples = options;
  with_samples._random_samples(_random_samples);
  return F::fractional_max_pool2d_with_indices(input, with_samples);
}

FractionalMaxPool3dImpl::FractionalMaxPool3dImpl(ExpandingArray<3> kernel_size)
    : FractionalMaxPool3dImpl(FractionalMaxPool3dOptions(kernel_size)) {}

FractionalMaxPool3dImpl::FractionalMaxPool3dImpl(FractionalMaxPool3dOptions options_) : options(std::move(options_)) {
  FractionalMaxPool3dImpl::reset();
}

void FractionalMaxPool3dImpl::reset() {
  check_fractional(options);
  _random_samples = register_buffer("_random_samples", options._random_samples());
}

void FractionalMaxPool3dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::FractionalMaxPool3d()";
}

Tensor FractionalMaxPool3dImpl::forward(const Tensor& input) {
  return std::get<0>(forward_with_indices(input));
}

std::tuple<Tensor, Tensor> FractionalMaxPool3dImpl::forward_with_indices(const Tensor& input) {
  FractionalMaxPool3dOptions with_samples = options;
  with_samples._random_samples(_random_samples);
  return F::fractional_max_pool3d_with_indices(input, with_samples);
}

template <size_t D, typename Derived>
LPPoolImpl<D, Derived>::LPPoolImpl(const LPPoolOptions<D>& options_) : options(options_) {}

template <size_t D, typename Derived>
void LPPoolImpl<D, Derived>::reset() {}

template <size_t D, typename Derived>
void LPPoolImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LPPool" << D << "d(norm_type=" << options.norm_type()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
         << ", ceil_mode=" << options.ceil_mode() << ")";
}

template class LPPoolImpl<1, LPPool1dImpl>;
template class LPPoolImpl<2, LPPool2dImpl>;
template class LPPoolImpl<3, LPPool3dImpl>;

Tensor LPPool1dImpl::forward(const Tensor& input) {
  return F::lp_pool1d(input, options);
}

Tensor LPPool2dImpl::forward(const Tensor& input) {
  return F::lp_pool2d(input, options);
}

Tensor LPPool3dImpl::forward(const Tensor& input) {
  return F::lp_pool3d(input, options);
}

Module::DefaultArgs MaxUnpool1dImpl::_forward_default_args() {
  return {{2, AnyValue(std::optional<std::vector<int64_t>>())}};
}

Module::DefaultArgs MaxUnpool2dImpl::_forward_default_args() {
  return {{2, AnyValue(std::optional<std::vector<int64_t>>())}};
}

Module::DefaultArgs MaxUnpool3dImpl::_forward_default_args() {
  return {{2, AnyValue(std::optional<std::vector<int64_t>>())}};
}

} // namespace torch::nn
