#include <csrc/quantization/sequential.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/quantized/packed_conv.h>
#include <aten/quantized/packed_params.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/modules/activation.h>
#include <csrc/nn/modules/batchnorm.h>
#include <csrc/nn/modules/common.h>
#include <csrc/nn/modules/conv.h>
#include <csrc/nn/modules/dropout.h>
#include <csrc/nn/modules/linear.h>
#include <csrc/nn/modules/pooling.h>
#include <csrc/nn/modules/utils.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <utility>

namespace torch {
namespace {

using LayerPtr = std::shared_ptr<nn::Module>;

/// Modules of a chain in their order, of chains within it too.
void flatten_into(const nn::SequentialImpl& net, std::vector<std::pair<LayerPtr, nn::AnyModule>>& to) {
  for (const nn::AnyModule& any : net) {
    const LayerPtr module = any.ptr();
    if (const auto* chain = module->as<nn::SequentialImpl>()) {
      flatten_into(*chain, to);
    } else {
      to.emplace_back(module, any);
    }
  }
}

struct Normalization {
  Tensor mean, var, weight, bias;
  double eps;
};

template <class Impl>
bool read_normalization(const nn::Module& module, Normalization& to) {
  const auto* norm = module.as<Impl>();
  if (norm == nullptr || !norm->running_mean.defined()) {
    return false;
  }
  to = {norm->running_mean, norm->running_var, norm->weight, norm->bias, norm->options.eps()};
  return true;
}

bool is_normalization(const nn::Module& module, Normalization& to) {
  return read_normalization<nn::BatchNorm1dImpl>(module, to) || read_normalization<nn::BatchNorm2dImpl>(module, to) ||
      read_normalization<nn::BatchNorm3dImpl>(module, to);
}

/// weight * gain and bias * gain + shift of each output.
void fold(const Normalization& norm, Tensor& weight, Tensor& bias) {
  const c10::NoGradGuard no_grad;
  Tensor gain = at::rsqrt(norm.var.to(kDouble) + norm.eps);
  if (norm.weight.defined()) {
    gain = gain * norm.weight.to(kDouble);
  }
  Tensor shift = -norm.mean.to(kDouble) * gain;
  if (bias.defined()) {
    shift = shift + bias.to(kDouble) * gain;
  }
  if (norm.bias.defined()) {
    shift = shift + norm.bias.to(kDouble);
  }
  DimVector sizes(static_cast<size_t>(weight.dim()), 1);
  sizes[0] = gain.numel();
  const ScalarType dtype = weight.scalar_type();
  weight = (weight.to(kDouble) * gain.view(sizes)).to(dtype);
  bias = shift.to(dtype);
}

nn::LinearOptions options_of(const nn::LinearImpl& layer) {
  return layer.options;
}
template <size_t D, class Impl>
nn::ConvOptions<D> conv_options_of(const Impl& layer) {
  const auto& o = layer.options;
  return nn::ConvOptions<D>(o.in_channels(), o.out_channels(), o.kernel_size())
      .stride(o.stride())
      .padding(o.padding())
      .dilation(o.dilation())
      .groups(o.groups())
      .padding_mode(o.padding_mode());
}
nn::ConvOptions<1> options_of(const nn::Conv1dImpl& layer) {
  return conv_options_of<1>(layer);
}
nn::ConvOptions<2> options_of(const nn::Conv2dImpl& layer) {
  return conv_options_of<2>(layer);
}
nn::ConvOptions<3> options_of(const nn::Conv3dImpl& layer) {
  return conv_options_of<3>(layer);
}

/// A copy of a layer with other parameters.
template <class Impl>
std::shared_ptr<Impl> with_parameters(const Impl& layer, const Tensor& weight, const Tensor& bias) {
  auto copy = std::make_shared<Impl>(options_of(layer).bias(true));
  copy->train(layer.is_training());
  const c10::NoGradGuard no_grad;
  copy->weight.set_data(weight);
  copy->bias.set_data(bias);
  return copy;
}

/// The layer with the normalization folded in; an empty module if it is none that has outputs in dimension 0.
nn::AnyModule folded(const nn::Module& layer, const Normalization& norm) {
  const auto copy_of = [&](const auto& impl) {
    Tensor weight = impl.weight, bias = impl.bias;
    fold(norm, weight, bias);
    return nn::AnyModule(with_parameters(impl, weight, bias));
  };
  if (const auto* conv1 = layer.as<nn::Conv1dImpl>()) {
    return copy_of(*conv1);
  }
  if (const auto* conv2 = layer.as<nn::Conv2dImpl>()) {
    return copy_of(*conv2);
  }
  if (const auto* conv3 = layer.as<nn::Conv3dImpl>()) {
    return copy_of(*conv3);
  }
  const auto* linear = layer.as<nn::LinearImpl>();
  return linear != nullptr && linear->replaced_weight() == nullptr ? copy_of(*linear) : nn::AnyModule();
}

} // namespace

nn::Sequential fuse_conv_bn(const nn::Sequential& net) {
  std::vector<std::pair<LayerPtr, nn::AnyModule>> layers;
  flatten_into(*net, layers);
  nn::Sequential result;
  for (size_t i = 0; i < layers.size(); ++i) {
    Normalization norm;
    if (i + 1 < layers.size() && is_normalization(*layers[i + 1].first, norm)) {
      if (nn::AnyModule joined = folded(*layers[i].first, norm); !joined.is_empty()) {
        result->push_back(std::move(joined));
        ++i;
        continue;
      }
    }
    result->push_back(layers[i].second);
  }
  result->train(net->is_training());
  return result;
}

namespace quantization {

/// One step before conversion: a product, or an operator that keeps scale and zero point.
struct PreparedStep : nn::Module {
  PreparedStep() : nn::Module("PreparedStep") {
    low = register_buffer("low", at::zeros({}));
    high = register_buffer("high", at::zeros({}));
    calls = register_buffer("calls", at::zeros({}, kLong));
  }

  bool has_product() const {
    return weight.defined();
  }
  Tensor product(const Tensor& x, const Tensor& w) const {
    if (is_linear) {
      return at::linear(x, w, bias);
    }
    return at::conv2d(x, w, bias, conv.stride, conv.padding, conv.dilation, conv.groups);
  }
  /// Largest magnitudes / 127 of each output.
  Tensor weight_scales() const {
    const Tensor most = weight.detach().abs().flatten(1).amax(1).to(kFloat);
    return (most / 127).clamp_min(1e-12);
  }
  std::pair<double, int64_t> result_parameters() const {
    const double least = std::min(0.0, static_cast<double>(low.item<float>())),
                 most = std::max(0.0, static_cast<double>(high.item<float>()));
    TORCH_CHECK(
        std::isfinite(least) && std::isfinite(most), "convert: the results of a step reach from ", least, " to ", most,
        "; calibrate with finite numbers");
    const double scale = std::max((most - least) / 255, 1e-12);
    return {scale, static_cast<int64_t>(std::clamp(std::nearbyint(-least / scale), 0.0, 255.0))};
  }
  void watch(const Tensor& x, double averaging_constant) {
    const c10::NoGradGuard no_grad;
    const auto [least, most] = at::aminmax(x.detach());
    if (calls.item<int64_t>() == 0) {
      low.copy_(least);
      high.copy_(most);
    } else if (averaging_constant == 0) {
      low.copy_(at::minimum(low, least));
      high.copy_(at::maximum(high, most));
    } else {
      low.lerp_(least.to(kFloat), averaging_constant);
      high.lerp_(most.to(kFloat), averaging_constant);
    }
    calls.add_(1);
  }
  Tensor rounded(const Tensor& x) const {
    const auto [scale, zero_point] = result_parameters();
    return at::fake_quantize_per_tensor_affine(x, scale, zero_point, 0, 255);
  }

  Tensor weight, bias, low, high, calls;
  bool is_linear = false, relu = false;
  at::quantized::ConvOptions conv;
  /// Of steps without a product.
  std::function<Tensor(const Tensor&)> keeps_scale;
  std::string name;
};

/// One step of bytes.
struct QuantizedStep {
  std::shared_ptr<const at::quantized::ConvPackedParams> conv;
  std::shared_ptr<const at::quantized::LinearPackedParams> linear;
  double scale = 1;
  int64_t zero_point = 0;
  bool relu = false;
  std::function<Tensor(const Tensor&)> keeps_scale;
  std::string name;

  Tensor run(const Tensor& x) const {
    if (conv != nullptr) {
      return conv->apply(x, scale, zero_point, relu);
    }
    return linear != nullptr ? linear->apply(x, scale, zero_point, relu) : keeps_scale(x);
  }
};

namespace {

std::shared_ptr<PreparedStep> product_step(const Tensor& weight, const Tensor& bias, const char* name) {
  auto step = std::make_shared<PreparedStep>();
  step->weight = step->register_parameter("weight", weight.detach().clone());
  step->bias = step->register_parameter("bias", bias.defined() ? bias.detach().clone() : at::zeros({weight.size(0)}));
  step->name = name;
  return step;
}

std::shared_ptr<PreparedStep> conv_step(const nn::Conv2dImpl& layer) {
  const auto& o = layer.options;
  TORCH_CHECK(
      std::holds_alternative<enumtype::kZeros>(o.padding_mode()) &&
          !std::holds_alternative<enumtype::kSame>(o.padding()),
      "prepare_sequential: nn::Conv2d is supported with zeros for padding, and numbers for how many");
  auto step = product_step(layer.weight, layer.bias, "Conv2d");
  step->conv.stride = {o.stride()->begin(), o.stride()->end()};
  step->conv.dilation = {o.dilation()->begin(), o.dilation()->end()};
  step->conv.padding = {0, 0};
  if (!std::holds_alternative<enumtype::kValid>(o.padding())) {
    const auto& padding = std::get<ExpandingArray<2>>(o.padding());
    step->conv.padding = {padding->begin(), padding->end()};
  }
  step->conv.groups = o.groups();
  return step;
}

/// A module that runs on quantized tensors as on others.
template <class Impl>
bool add_plain(const LayerPtr& module, const char* name, std::vector<std::shared_ptr<PreparedStep>>& steps) {
  if (module->as<Impl>() == nullptr) {
    return false;
  }
  auto step = std::make_shared<PreparedStep>();
  step->keeps_scale = [layer = std::dynamic_pointer_cast<Impl>(module)](const Tensor& x) { return layer->forward(x); };
  step->name = name;
  steps.push_back(std::move(step));
  return true;
}

void add_step(const LayerPtr& module, std::vector<std::shared_ptr<PreparedStep>>& steps) {
  if (const auto* conv = module->as<nn::Conv2dImpl>()) {
    steps.push_back(conv_step(*conv));
    return;
  }
  if (const auto* linear = module->as<nn::LinearImpl>(); linear != nullptr && linear->replaced_weight() == nullptr) {
    steps.push_back(product_step(linear->weight, linear->bias, "Linear"));
    steps.back()->is_linear = true;
    return;
  }
  if (module->as<nn::ReLUImpl>() != nullptr && !steps.empty() && steps.back()->has_product()) {
    steps.back()->relu = true;
    return;
  }
  if (module->as<nn::DropoutImpl>() != nullptr || module->as<nn::IdentityImpl>() != nullptr) {
    return;
  }
  TORCH_CHECK(
      add_plain<nn::ReLUImpl>(module, "ReLU", steps) || add_plain<nn::MaxPool2dImpl>(module, "MaxPool2d", steps) ||
          add_plain<nn::AvgPool2dImpl>(module, "AvgPool2d", steps) ||
          add_plain<nn::AdaptiveAvgPool2dImpl>(module, "AdaptiveAvgPool2d", steps) ||
          add_plain<nn::FlattenImpl>(module, "Flatten", steps),
      "prepare_sequential: a module of type ", module->name(),
      " is not supported; supported are Conv2d, Linear, BatchNorm behind these, ReLU, MaxPool2d, AvgPool2d, "
      "AdaptiveAvgPool2d, Flatten, Dropout, Identity and chains of them");
}

} // namespace
} // namespace quantization

using quantization::PreparedStep;
using quantization::QuantizedStep;

PreparedSequentialImpl::PreparedSequentialImpl(const nn::Sequential& net, double averaging_constant, bool rounding)
    : nn::Module("PreparedSequential"), averaging_constant_(averaging_constant), rounding_(rounding) {
  TORCH_CHECK(
      averaging_constant >= 0 && averaging_constant <= 1,
      "prepare_sequential: averaging_constant must be from 0 to 1, got ", averaging_constant);
  // The input has a range as well.
  steps_.push_back(std::make_shared<PreparedStep>());
  steps_[0]->name = "Quantize";
  steps_[0]->keeps_scale = [](const Tensor& x) { return x; };
  std::vector<std::pair<LayerPtr, nn::AnyModule>> layers;
  flatten_into(*fuse_conv_bn(net), layers);
  for (const auto& [module, any] : layers) {
    quantization::add_step(module, steps_);
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    register_module(std::to_string(i), steps_[i]);
  }
}
PreparedSequentialImpl::~PreparedSequentialImpl() = default;

Tensor PreparedSequentialImpl::forward(const Tensor& input) {
  Tensor x = input;
  const bool watches = is_training() || !rounding_;
  for (size_t i = 0; i < steps_.size(); ++i) {
    PreparedStep& step = *steps_[i];
    if (!step.has_product() && i > 0) {
      x = step.keeps_scale(x);
      continue;
    }
    if (step.has_product()) {
      Tensor weight = step.weight;
      if (rounding_) {
        const Tensor scales = step.weight_scales();
        weight = at::fake_quantize_per_channel_affine(weight, scales, at::zeros({scales.numel()}, kInt), 0, -127, 127);
      }
      x = step.product(x, weight);
      x = step.relu ? at::relu(x) : x;
    }
    if (watches) {
      step.watch(x, averaging_constant_);
    }
    if (rounding_) {
      x = step.rounded(x);
    }
  }
  return x;
}

void PreparedSequentialImpl::pretty_print(std::ostream& stream) const {
  stream << "PreparedSequential of " << steps_.size() << " steps";
}

QuantizedSequentialImpl::QuantizedSequentialImpl(const PreparedSequentialImpl& prepared)
    : nn::Module("QuantizedSequential") {
  const c10::NoGradGuard no_grad;
  std::tie(input_scale_, input_zero_point_) = prepared.steps_[0]->result_parameters();
  for (size_t i = 0; i < prepared.steps_.size(); ++i) {
    const PreparedStep& from = *prepared.steps_[i];
    TORCH_CHECK(
        (!from.has_product() && i > 0) || from.calls.item<int64_t>() > 0,
        "convert: the prepared chain has not run yet; run it on typical data first");
    if (i == 0) {
      continue;
    }
    auto step = std::make_shared<QuantizedStep>();
    step->name = from.name;
    step->relu = from.relu;
    step->keeps_scale = from.keeps_scale;
    if (from.has_product()) {
      std::tie(step->scale, step->zero_point) = from.result_parameters();
      const Tensor scales = from.weight_scales().to(kDouble);
      const Tensor weight = at::quantize_per_channel(
          from.weight.detach().to(kFloat).contiguous(), scales, at::zeros({scales.numel()}, kLong), 0, kQInt8);
      const Tensor bias = from.bias.detach().to(kFloat).contiguous();
      if (from.is_linear) {
        step->linear = std::make_shared<at::quantized::LinearPackedParams>(weight, bias);
      } else {
        step->conv = std::make_shared<at::quantized::ConvPackedParams>(2, weight, bias, from.conv);
      }
    }
    steps_.push_back(std::move(step));
  }
}
QuantizedSequentialImpl::~QuantizedSequentialImpl() = default;

Tensor QuantizedSequentialImpl::forward(const Tensor& input) {
  const c10::NoGradGuard no_grad;
  Tensor x = at::quantize_per_tensor(input.to(kFloat), input_scale_, input_zero_point_, kQUInt8);
  for (const auto& step : steps_) {
    x = step->run(x);
  }
  return at::dequantize(x);
}

void QuantizedSequentialImpl::pretty_print(std::ostream& stream) const {
  stream << "QuantizedSequential(";
  for (size_t i = 0; i < steps_.size(); ++i) {
    stream << (i > 0 ? ", " : "") << steps_[i]->name << (steps_[i]->relu ? "+ReLU" : "");
  }
  stream << ")";
}

PreparedSequential prepare_sequential(const nn::Sequential& net, double averaging_constant) {
  PreparedSequential prepared(net, averaging_constant, false);
  prepared->eval();
  return prepared;
}

PreparedSequential prepare_qat(const nn::Sequential& net, double averaging_constant) {
  PreparedSequential prepared(net, averaging_constant, true);
  prepared->train();
  return prepared;
}

QuantizedSequential convert(const PreparedSequential& prepared) {
  return QuantizedSequential(*prepared);
}

} // namespace torch
