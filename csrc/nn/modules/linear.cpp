#include <csrc/nn/modules/linear.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/nn/functional/linear.h>
#include <csrc/nn/init.h>

#include <cmath>
#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

void IdentityImpl::reset() {}

void IdentityImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Identity()";
}

Tensor IdentityImpl::forward(const Tensor& input) {
  return input;
}

LinearImpl::LinearImpl(int64_t in_features, int64_t out_features)
    : LinearImpl(LinearOptions(in_features, out_features)) {}

LinearImpl::LinearImpl(const LinearOptions& options_) : options(options_) {
  LinearImpl::reset();
}

void LinearImpl::reset() {
  if (replacement_ != nullptr) {
    register_replacement(dynamic_cast<Module&>(*replacement_).clone());
  } else {
    weight = register_parameter("weight", at::empty({options.out_features(), options.in_features()}));
  }
  bias = options.bias() ? register_parameter("bias", at::empty({options.out_features()}))
                        : register_parameter("bias", Tensor(), /*requires_grad=*/false);
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  if (weight.defined()) {
    init::kaiming_uniform_(weight, std::sqrt(5));
  }
  if (bias.defined()) {
    const double bound = options.in_features() > 0 ? 1 / std::sqrt(static_cast<double>(options.in_features())) : 0;
    init::uniform_(bias, -bound, bound);
  }
}

void LinearImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Linear(in_features=" << options.in_features()
         << ", out_features=" << options.out_features() << ", bias=" << options.bias() << ")";
}

Tensor LinearImpl::forward(const Tensor& input) {
  return replacement_ != nullptr ? replacement_->product(input, bias) : F::linear(input, weight, bias);
}

void LinearImpl::replace_weight(std::shared_ptr<Module> replacement) {
  TORCH_CHECK(replacement_ == nullptr, "Linear::replace_weight: the weight has been replaced already");
  TORCH_CHECK(
      parameters_.contains("weight"),
      "Linear::replace_weight: the weight is computed from other tensors; "
      "remove the parametrization first");
  TORCH_CHECK(
      dynamic_cast<LinearWeight*>(replacement.get()) != nullptr,
      "Linear::replace_weight: the replacement must be a module that is a LinearWeight, got ",
      replacement == nullptr ? "null" : replacement->name());
  parameters_.erase("weight");
  weight = Tensor();
  register_replacement(std::move(replacement));
}

void LinearImpl::register_replacement(std::shared_ptr<Module> replacement) {
  replacement_ = dynamic_cast<LinearWeight*>(replacement.get());
  register_module("weight", std::move(replacement));
}

FlattenImpl::FlattenImpl(const FlattenOptions& options_) : options(options_) {}

void FlattenImpl::reset() {}

void FlattenImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Flatten(start_dim=" << options.start_dim() << ", end_dim=" << options.end_dim() << ")";
}

Tensor FlattenImpl::forward(const Tensor& input) {
  return input.flatten(options.start_dim(), options.end_dim());
}

UnflattenImpl::UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
    : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}

UnflattenImpl::UnflattenImpl(UnflattenOptions options_) : options(std::move(options_)) {}

void UnflattenImpl::reset() {}

void UnflattenImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Unflatten(dim=" << options.dim() << ", unflattened_size={";
  for (size_t i = 0; i < options.sizes().size(); ++i) {
    stream << (i == 0 ? "" : ", ") << options.sizes()[i];
  }
  stream << "})";
}

Tensor UnflattenImpl::forward(const Tensor& input) {
  return input.unflatten(options.dim(), options.sizes());
}

BilinearImpl::BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
    : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}

BilinearImpl::BilinearImpl(const BilinearOptions& options_) : options(options_) {
  BilinearImpl::reset();
}

void BilinearImpl::reset() {
  weight =
      register_parameter("weight", at::empty({options.out_features(), options.in1_features(), options.in2_features()}));
  bias = options.bias() ? register_parameter("bias", at::empty({options.out_features()}))
                        : register_parameter("bias", Tensor(), /*requires_grad=*/false);
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  TORCH_CHECK(options.in1_features() > 0, "in1_features=", options.in1_features(), " must be positive");
  const double bound = 1 / std::sqrt(static_cast<double>(options.in1_features()));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) {
    init::uniform_(bias, -bound, bound);
  }
}

void BilinearImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Bilinear(in1_features=" << options.in1_features()
         << ", in2_features=" << options.in2_features() << ", out_features=" << options.out_features()
         << ", bias=" << options.bias() << ")";
}

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return F::bilinear(input1, input2, weight, bias);
}

} // namespace torch::nn
