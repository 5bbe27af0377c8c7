#include <csrc/nn/modules/dropout.h>

#include <c10/util/Exception.h>
#include <csrc/nn/functional/dropout.h>

#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

namespace detail {

void check_dropout_probability(double p) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

} // namespace detail

namespace {

template <class FuncOptions>
FuncOptions options_for(const DropoutOptions& options, bool training) {
  return FuncOptions().p(options.p()).training(training).inplace(options.inplace());
}

void print_dropout(std::ostream& stream, const char* name, const DropoutOptions& options) {
  stream << std::boolalpha << "torch::nn::" << name << "(p=" << options.p() << ", inplace=" << options.inplace() << ")";
}

} // namespace

Tensor DropoutImpl::forward(Tensor input) {
  return F::dropout(std::move(input), options_for<F::DropoutFuncOptions>(options, is_training()));
}

void DropoutImpl::pretty_print(std::ostream& stream) const {
  print_dropout(stream, "Dropout", options);
}

Tensor Dropout2dImpl::forward(Tensor input) {
  return F::dropout2d(std::move(input), options_for<F::Dropout2dFuncOptions>(options, is_training()));
}

void Dropout2dImpl::pretty_print(std::ostream& stream) const {
  print_dropout(stream, "Dropout2d", options);
}

Tensor Dropout3dImpl::forward(Tensor input) {
  return F::dropout3d(std::move(input), options_for<F::Dropout3dFuncOptions>(options, is_training()));
}

void Dropout3dImpl::pretty_print(std::ostream& stream) const {
  print_dropout(stream, "Dropout3d", options);
}

Tensor AlphaDropoutImpl::forward(const Tensor& input) {
  return F::alpha_dropout(input, options_for<F::AlphaDropoutFuncOptions>(options, is_training()));
}

void AlphaDropoutImpl::pretty_print(std::ostream& stream) const {
  print_dropout(stream, "AlphaDropout", options);
}

Tensor FeatureAlphaDropoutImpl::forward(const Tensor& input) {
  return F::feature_alpha_dropout(input, options_for<F::FeatureAlphaDropoutFuncOptions>(options, is_training()));
}

void FeatureAlphaDropoutImpl::pretty_print(std::ostream& stream) const {
  print_dropout(stream, "FeatureAlphaDropout", options);
}

} // namespace torch::nn
