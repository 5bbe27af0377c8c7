#include <csrc/nn/modules/activation.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/nn/functional/activation.h>
#include <csrc/nn/init.h>

#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

namespace {

// Ends the text of a module that can work in place; `separator` stands before what is said of that. As everywhere in
// these texts boolalpha stays set where libtorch leaves it set: a program that prints a bool afterwards sees it.
void print_inplace(std::ostream& stream, const char* separator, bool inplace) {
  if (inplace) {
    stream << separator << std::boolalpha << "inplace=" << inplace;
  }
  stream << ")";
}

} // namespace

ELUImpl::ELUImpl(const ELUOptions& options_) : options(options_) {}

void ELUImpl::reset() {}

void ELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ELU(alpha=" << options.alpha();
  print_inplace(stream, ", ", options.inplace());
}

Tensor ELUImpl::forward(Tensor input) {
  return F::elu(std::move(input), options);
}

SELUImpl::SELUImpl(const SELUOptions& options_) : options(options_) {}

void SELUImpl::reset() {}

void SELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::SELU(";
  print_inplace(stream, "", options.inplace());
}

Tensor SELUImpl::forward(Tensor input) {
  return F::selu(std::move(input), options);
}

HardshrinkImpl::HardshrinkImpl(const HardshrinkOptions& options_) : options(options_) {}

void HardshrinkImpl::reset() {}

void HardshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Hardshrink(" << options.lambda() << ")";
}

Tensor HardshrinkImpl::forward(const Tensor& input) {
  return F::hardshrink(input, options);
}

HardtanhImpl::HardtanhImpl(const HardtanhOptions& options_) : options(options_) {
  HardtanhImpl::reset();
}

void HardtanhImpl::reset() {
  TORCH_CHECK(
      options.min_val() < options.max_val(), "max_val must be greater than min_val: Hardtanh got min_val ",
      options.min_val(), " and max_val ", options.max_val());
}

void HardtanhImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Hardtanh(min_val=" << options.min_val() << ", max_val=" << options.max_val();
  print_inplace(stream, ", ", options.inplace());
}

Tensor HardtanhImpl::forward(Tensor input) {
  return F::hardtanh(std::move(input), options);
}

LeakyReLUImpl::LeakyReLUImpl(const LeakyReLUOptions& options_) : options(options_) {}

void LeakyReLUImpl::reset() {}

void LeakyReLUImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LeakyReLU(negative_slope=" << options.negative_slope();
  print_inplace(stream, ", ", options.inplace());
}

Tensor LeakyReLUImpl::forward(Tensor input) {
  return F::leaky_relu(std::move(input), options);
}

void LogSigmoidImpl::reset() {}

void LogSigmoidImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LogSigmoid()";
}

Tensor LogSigmoidImpl::forward(const Tensor& input) {
  return F::logsigmoid(input);
}

SoftmaxImpl::SoftmaxImpl(int64_t dim) : SoftmaxImpl(SoftmaxOptions(dim)) {}

SoftmaxImpl::SoftmaxImpl(const SoftmaxOptions& options_) : options(options_) {}

void SoftmaxImpl::reset() {}

void SoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmax(dim=" << options.dim() << ")";
}

Tensor SoftmaxImpl::forward(const Tensor& input) {
  return F::softmax(input, F::SoftmaxFuncOptions(options.dim()));
}

SoftminImpl::SoftminImpl(int64_t dim) : SoftminImpl(SoftminOptions(dim)) {}

SoftminImpl::SoftminImpl(const SoftminOptions& options_) : options(options_) {}

void SoftminImpl::reset() {}

void SoftminImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmin(dim=" << options.dim() << ")";
}

Tensor SoftminImpl::forward(const Tensor& input) {
  return F::softmin(input, F::SoftminFuncOptions(options.dim()));
}

LogSoftmaxImpl::LogSoftmaxImpl(int64_t dim) : LogSoftmaxImpl(LogSoftmaxOptions(dim)) {}

LogSoftmaxImpl::LogSoftmaxImpl(const LogSoftmaxOptions& options_) : options(options_) {}

void LogSoftmaxImpl::reset() {}

void LogSoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LogSoftmax(dim=" << options.dim() << ")";
}

Tensor LogSoftmaxImpl::forward(const Tensor& input) {
  return F::log_softmax(input, F::LogSoftmaxFuncOptions(options.dim()));
}

void Softmax2dImpl::reset() {}

void Softmax2dImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmax2d()";
}

Tensor Softmax2dImpl::forward(const Tensor& input) {
  TORCH_CHECK(
      input.dim() == 4 || input.dim() == 3, "Softmax2d requires a 3D or 4D tensor as input, but the input has sizes ",
      input.sizes());
  return at::softmax(input, /*dim=*/-3);
}

PReLUImpl::PReLUImpl(const PReLUOptions& options_) : options(options_) {
  PReLUImpl::reset();
}

void PReLUImpl::reset() {
  weight = register_parameter("weight", at::full({options.num_parameters()}, options.init()));
}

void PReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PReLU(num_parameters=" << options.num_parameters() << ")";
}

Tensor PReLUImpl::forward(const Tensor& input) {
  return F::prelu(input, weight);
}

ReLUImpl::ReLUImpl(const ReLUOptions& options_) : options(options_) {}

void ReLUImpl::reset() {}

void ReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ReLU(";
  print_inplace(stream, "", options.inplace());
}

Tensor ReLUImpl::forward(Tensor input) {
  return F::relu(std::move(input), options);
}

ReLU6Impl::ReLU6Impl(const ReLU6Options& options_) : options(options_) {}

void ReLU6Impl::reset() {}

void ReLU6Impl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ReLU6(";
  print_inplace(stream, "", options.inplace());
}

Tensor ReLU6Impl::forward(Tensor input) {
  return F::relu6(std::move(input), options);
}

RReLUImpl::RReLUImpl(const RReLUOptions& options_) : options(options_) {}

void RReLUImpl::reset() {}

void RReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::RReLU(lower=" << options.lower() << ", upper=" << options.upper();
  print_inplace(stream, ", ", options.inplace());
}

Tensor RReLUImpl::forward(Tensor input) {
  return F::rrelu(
      std::move(input),
      F::RReLUFuncOptions()
          .lower(options.lower())
          .upper(options.upper())
          .training(is_training())
          .inplace(options.inplace()));
}

CELUImpl::CELUImpl(const CELUOptions& options_) : options(options_) {}

void CELUImpl::reset() {}

void CELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::CELU(alpha=" << options.alpha();
  print_inplace(stream, ", ", options.inplace());
}

Tensor CELUImpl::forward(Tensor input) {
  return F::celu(std::move(input), options);
}

GLUImpl::GLUImpl(const GLUOptions& options_) : options(options_) {}

void GLUImpl::reset() {}

void GLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::GLU(dim=" << options.dim() << ")";
}

Tensor GLUImpl::forward(const Tensor& input) {
  return F::glu(input, options);
}

GELUImpl::GELUImpl(GELUOptions options_) : options(std::move(options_)) {}

void GELUImpl::reset() {}

void GELUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::GELU()";
}

Tensor GELUImpl::forward(const Tensor& input) {
  return F::gelu(input, options);
}

void SiLUImpl::reset() {}

void SiLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::SiLU()";
}

Tensor SiLUImpl::forward(const Tensor& input) {
  return F::silu(input);
}

void MishImpl::reset() {}

void MishImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Mish()";
}

Tensor MishImpl::forward(const Tensor& input) {
  return F::mish(input);
}

void SigmoidImpl::reset() {}

void SigmoidImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Sigmoid()";
}

Tensor SigmoidImpl::forward(const Tensor& input) {
  return at::sigmoid(input);
}

SoftplusImpl::SoftplusImpl(const SoftplusOptions& options_) : options(options_) {}

void SoftplusImpl::reset() {}

void SoftplusImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softplus(beta=" << options.beta() << ", threshold=" << options.threshold() << ")";
}

Tensor SoftplusImpl::forward(const Tensor& input) {
  return F::softplus(input, options);
}

SoftshrinkImpl::SoftshrinkImpl(const SoftshrinkOptions& options_) : options(options_) {}

void SoftshrinkImpl::reset() {}

void SoftshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softshrink(" << options.lambda() << ")";
}

Tensor SoftshrinkImpl::forward(const Tensor& input) {
  return F::softshrink(input, options);
}

void SoftsignImpl::reset() {}

void SoftsignImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softsign()";
}

Tensor SoftsignImpl::forward(const Tensor& input) {
  return F::softsign(input);
}

void TanhImpl::reset() {}

void TanhImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Tanh()";
}

Tensor TanhImpl::forward(const Tensor& input) {
  return at::tanh(input);
}

void TanhshrinkImpl::reset() {}

void TanhshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Tanhshrink()";
}

Tensor TanhshrinkImpl::forward(const Tensor& input) {
  return input - input.tanh();
}

ThresholdImpl::ThresholdImpl(double threshold, double value) : ThresholdImpl(ThresholdOptions(threshold, value)) {}

ThresholdImpl::ThresholdImpl(const ThresholdOptions& options_) : options(options_) {}

void ThresholdImpl::reset() {}

void ThresholdImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Threshold(threshold=" << options.threshold() << ", value=" << options.value();
  print_inplace(stream, ", ", options.inplace());
}

Tensor ThresholdImpl::forward(Tensor input) {
  return F::threshold(std::move(input), options);
}

} // namespace torch::nn
