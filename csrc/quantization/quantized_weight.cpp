#include <csrc/quantization/quantized_weight.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/quantized/QTensorImpl.h>
#include <autograd/custom_function.h>
#include <c10/core/GradMode.h>
#include <csrc/nn/functional/linear.h>

#include <limits>
#include <ostream>
#include <utility>

namespace torch::quantization {
namespace {

using at::quantized::Activations;
using at::quantized::PackedWeight;

/// Two codes of each byte, the first in its lower half, as int8 from -8 to 7.
Tensor unpack_pairs(const Tensor& pairs) {
  // Shifts of int8 keep the sign.
  const Tensor low = pairs.bitwise_left_shift(4).bitwise_right_shift(4), high = pairs.bitwise_right_shift(4);
  return at::stack({low, high}, 2).reshape({pairs.size(0), -1});
}

Tensor pack_pairs(const Tensor& codes) {
  const Tensor pairs = codes.view({codes.size(0), -1, 2});
  return pairs.select(2, 0).bitwise_and(15).bitwise_or(pairs.select(2, 1).bitwise_left_shift(4));
}

Tensor numbers_of(const Tensor& qdata, const Tensor& scale, const Tensor& zero_point) {
  if (!zero_point.defined()) {
    return qdata.to(scale.scalar_type()) * scale;
  }
  const Tensor codes = unpack_pairs(qdata).to(scale.scalar_type());
  const Tensor groups = codes.view({codes.size(0), scale.size(0), -1});
  return (groups * scale.t().unsqueeze(2) + zero_point.t().unsqueeze(2)).view(codes.sizes());
}

/// The packed product with a gradient for its input; the numbers of the weight are made when backward needs them.
struct PackedProduct : autograd::Function<PackedProduct> {
  static Tensor forward(
      autograd::AutogradContext* context,
      const Tensor& input,
      const Tensor& qdata,
      const Tensor& scale,
      const Tensor& zero_point,
      const PackedWeight& packed,
      Activations activations) {
    context->save_for_backward({qdata, scale, zero_point});
    return at::quantized::packed_linear(input, packed, {}, activations);
  }

  static autograd::variable_list backward(autograd::AutogradContext* context, const autograd::variable_list& grads) {
    const autograd::variable_list saved = context->get_saved_variables();
    const Tensor weight = numbers_of(saved[0], saved[1], saved[2]);
    return {at::matmul(grads[0], weight.to(grads[0].scalar_type())), Tensor(), Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

bool is_packable(const Tensor& input, const Tensor& qdata) {
  const ScalarType dtype = input.scalar_type();
  return input.device().is_cpu() && qdata.device().is_cpu() &&
      (dtype == kFloat || dtype == kBFloat16 || dtype == kHalf);
}

} // namespace

QuantizedWeightImpl::QuantizedWeightImpl(const Tensor& weight, const WeightForm& form) : form_(form) {
  const c10::NoGradGuard no_grad;
  quantize_groups(weight.detach());
  register_fields();
}

QuantizedWeightImpl::QuantizedWeightImpl(const Tensor& weight, double act_scale, int64_t act_zero_point)
    : form_{8, 0, true} {
  const c10::NoGradGuard no_grad;
  quantize_groups(weight.detach());
  this->act_scale = at::full({1}, act_scale, qdata.options().dtype(kFloat));
  this->act_zero_point = at::full({1}, act_zero_point, qdata.options().dtype(kLong));
  register_fields();
}

/// torchao's rules: symmetric codes of 8 bits whose range is 127.5 scales to both sides, and codes of 4 bits between
/// the smallest and the largest element of a group.
void QuantizedWeightImpl::quantize_groups(const Tensor& weight) {
  const Tensor numbers = weight.to(kFloat);
  if (form_.bits == 8) {
    const double eps = weight.scalar_type() == kBFloat16 ? 0.0078125
        : weight.scalar_type() == kHalf                  ? 0.0009765625
                                                         : std::numeric_limits<float>::epsilon();
    const Tensor most =
        numbers.size(1) > 0 ? numbers.abs().amax(1, true) : at::zeros({numbers.size(0), 1}, numbers.options());
    scale = (most / 127.5).clamp_min(eps).to(weight.scalar_type());
    qdata = (numbers * scale.to(kFloat).reciprocal()).round().clamp(-128, 127).to(kChar);
    return;
  }
  const Tensor groups = numbers.view({numbers.size(0), -1, form_.group_size});
  const Tensor low = groups.amin(2, true), high = groups.amax(2, true);
  const Tensor steps = (high - low).clamp_min(1e-6) / 15;
  qdata = pack_pairs((((groups - low) / steps).round().clamp(0, 15) - 8).to(kChar).view(numbers.sizes()));
  scale = steps.squeeze(2).t().contiguous().to(weight.scalar_type());
  zero_point = (low + steps * 8).squeeze(2).t().contiguous().to(weight.scalar_type());
}

void QuantizedWeightImpl::register_fields() {
  qdata = register_buffer("qdata", qdata);
  scale = register_buffer("scale", scale);
  if (zero_point.defined()) {
    zero_point = register_buffer("zero_point", zero_point);
  }
  if (act_scale.defined()) {
    act_scale = register_buffer("act_scale", act_scale);
    act_zero_point = register_buffer("act_zero_point", act_zero_point);
  }
}

void QuantizedWeightImpl::reset() {
  for (Tensor* field : {&qdata, &scale, &zero_point, &act_scale, &act_zero_point}) {
    *field = field->defined() ? at::empty_like(*field) : Tensor();
  }
  packed_ = std::make_shared<Packed>();
  register_fields();
}

void QuantizedWeightImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::quantization::QuantizedWeight(bits=" << form_.bits;
  if (form_.group_size > 0) {
    stream << ", group_size=" << form_.group_size;
  }
  stream << std::boolalpha << ", int8_activations=" << form_.int8_activations << ")";
}

void QuantizedWeightImpl::to(Device device, Dtype dtype, bool non_blocking) {
  Module::to(device, non_blocking);
  to(dtype, non_blocking);
}

void QuantizedWeightImpl::to(Dtype dtype, bool non_blocking) {
  TORCH_CHECK(
      at::isFloatingType(dtype), "Module::to: quantized weights take floating dtypes, for their scales, got ", dtype);
  for (Tensor* field : {&scale, &zero_point}) {
    if (field->defined()) {
      field->set_data(field->to(dtype, non_blocking));
    }
  }
}

Tensor QuantizedWeightImpl::codes() const {
  return form_.bits == 4 ? unpack_pairs(qdata) : qdata;
}

Tensor QuantizedWeightImpl::dequantize() const {
  return numbers_of(qdata, scale, zero_point);
}

QuantizedWeightImpl::Packed& QuantizedWeightImpl::refreshed() const {
  std::vector<std::pair<const void*, uint32_t>> state;
  for (const Tensor* field : {&qdata, &scale, &zero_point}) {
    if (field->defined()) {
      state.emplace_back(field->const_data_ptr(), field->unsafeGetTensorImpl()->version_counter().current_version());
    }
  }
  if (packed_->state != state) {
    const c10::NoGradGuard no_grad;
    if (act_scale.defined()) {
      packed_->matrix = std::make_shared<const at::quantized::IntegerMatrix>(
          qdata.contiguous(), scale.flatten(), at::zeros({1}, kLong));
    } else {
      packed_->weight = form_.bits == 8
          ? PackedWeight::from_codes(qdata, scale.flatten(), {}, 8)
          : PackedWeight::from_codes(codes(), scale.t(), zero_point.t(), 4, form_.group_size);
    }
    packed_->state = std::move(state);
  }
  return *packed_;
}

Tensor QuantizedWeightImpl::static_product(const Tensor& input, const Tensor& bias) const {
  const c10::NoGradGuard no_grad;
  std::shared_ptr<const at::quantized::IntegerMatrix> matrix;
  {
    const std::lock_guard<std::mutex> lock(packed_->mutex);
    matrix = refreshed().matrix;
  }
  TORCH_CHECK(
      input.dim() >= 1 && input.size(-1) == matrix->inputs(), "linear(): input ", input.sizes(),
      " and the weight do not fit: the last dimension of the input must be ", matrix->inputs());
  const double step = act_scale.item<double>();
  const int64_t zero = act_zero_point.item<int64_t>();
  const Tensor q = at::quantize_per_tensor(input.detach().to(kFloat).contiguous(), step, zero, kQUInt8);
  const Tensor rows = at::integers_of(q).view({-1, matrix->inputs()});
  c10::DimVector sizes(input.sizes());
  sizes.back() = matrix->outputs();
  const Tensor added = bias.defined() ? bias.detach().to(kFloat).contiguous() : bias;
  return matrix->dequantize(matrix->sums(rows, zero), step, added, /*relu=*/false).view(sizes).to(input.scalar_type());
}

Tensor QuantizedWeightImpl::product(const Tensor& input, const Tensor& bias) {
  if (!is_packable(input, qdata)) {
    return nn::functional::linear(input, dequantize().to(input.scalar_type()), bias);
  }
  const bool recorded =
      c10::GradMode::is_enabled() && (input.requires_grad() || (bias.defined() && bias.requires_grad()));
  if (act_scale.defined()) {
    // Rounding to a fixed range has no derivative: gradients are those of the weight's numbers.
    return recorded ? nn::functional::linear(input, dequantize().to(input.scalar_type()), bias)
                    : static_product(input, bias);
  }
  const PackedWeight packed = [&] {
    const std::lock_guard<std::mutex> lock(packed_->mutex);
    return refreshed().weight;
  }();
  const Activations activations = form_.int8_activations ? Activations::Int8 : Activations::Float;
  if (!recorded) {
    return at::quantized::packed_linear(
        input, packed, bias.defined() ? std::optional<Tensor>(bias) : std::nullopt, activations);
  }
  const Tensor result = PackedProduct::apply(input, qdata, scale, zero_point, packed, activations);
  return bias.defined() ? result + bias : result;
}

} // namespace torch::quantization
