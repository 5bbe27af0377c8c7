// quantized::, what is computed element by element or by rows: arithmetic, activations, normalization, pooling.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/operator_table.h>
#include <aten/quantized/quantized_loops.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace at::quantized {
namespace {

Tensor requantized(const Tensor& numbers, double scale, int64_t zero_point, const Tensor& like) {
  return at::quantize_per_tensor(numbers.contiguous(), scale, zero_point, like.scalar_type());
}

void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  TORCH_CHECK(
      a.is_quantized() && b.is_quantized() && a.scalar_type() == b.scalar_type(), op,
      ": both operands must be quantized tensors of the same dtype, got ", a.scalar_type(), " and ", b.scalar_type());
}

/// Copies integers, scale and zero point.
Tensor& write_out(const Tensor& result, Tensor& out) {
  TORCH_CHECK(
      out.sizes() == result.sizes(), "quantized operators do not resize `out`: expected sizes ", result.sizes(),
      ", got ", out.sizes());
  return out.copy_(result);
}

// ---- sums and products ---------------------------------------------------------

/// Of bytes that lie alike in memory; undefined for others.
Tensor add_bytes(bool relu, const Tensor& a, const Tensor& b, double scale, int64_t zero_point) {
  if (a.scalar_type() != kQUInt8 || a.sizes() != b.sizes() || a.strides() != b.strides() ||
      !a.is_non_overlapping_and_dense() || get_quantizer(a)->is_per_channel() || get_quantizer(b)->is_per_channel()) {
    return {};
  }
  const auto operand = [](const Tensor& t) {
    const QuantizerPtr& q = get_quantizer(t);
    return native::ByteOperand{
        static_cast<const uint8_t*>(t.const_data_ptr()), static_cast<float>(q->scale),
        static_cast<float>(q->zero_point)};
  };
  const native::ByteOperand x = operand(a), y = operand(b);
  const Tensor out = at::empty_like(integers_of(a));
  const auto zero = static_cast<float>(zero_point);
  const native::ByteResult to{
      out.mutable_data_ptr<uint8_t>(), 1.0f / static_cast<float>(scale), zero, relu ? std::max(zero, 0.0f) : 0.0f};
  at::parallel_for(0, out.numel(), 8 * at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    native::quantized_loops().add(
        {x.data + begin, x.scale, x.zero}, {y.data + begin, y.scale, y.zero}, end - begin,
        {to.data + begin, to.inverse, to.zero, to.low});
  });
  return make_quantized(out, Quantizer::per_tensor(scale, zero_point, kQUInt8));
}

Tensor add(bool relu, const Tensor& a, const Tensor& b, double scale, int64_t zero_point) {
  check_same_dtype("quantized::add", a, b);
  if (const Tensor out = add_bytes(relu, a, b, scale, zero_point); out.defined()) {
    return out;
  }
  const Tensor sum = at::dequantize(a) + at::dequantize(b);
  return requantized(relu ? sum.relu() : sum, scale, zero_point, a);
}
template <bool Relu>
Tensor add(const Tensor& a, const Tensor& b, double scale, int64_t zero_point) {
  return add(Relu, a, b, scale, zero_point);
}
Tensor mul(bool relu, const Tensor& a, const Tensor& b, double scale, int64_t zero_point) {
  check_same_dtype("quantized::mul", a, b);
  const Tensor product = at::dequantize(a) * at::dequantize(b);
  return requantized(relu ? product.relu() : product, scale, zero_point, a);
}
template <bool Relu>
Tensor mul(const Tensor& a, const Tensor& b, double scale, int64_t zero_point) {
  return mul(Relu, a, b, scale, zero_point);
}
template <bool Relu>
Tensor& add_out(const Tensor& a, const Tensor& b, Tensor& out) {
  return write_out(add<Relu>(a, b, at::q_scale(out), at::q_zero_point(out)), out);
}
template <bool Relu>
Tensor& mul_out(const Tensor& a, const Tensor& b, Tensor& out) {
  return write_out(mul<Relu>(a, b, at::q_scale(out), at::q_zero_point(out)), out);
}

struct IntegerRange {
  int64_t low, high;
};
IntegerRange range_of(ScalarType dtype) {
  if (dtype == kQInt32) {
    return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  }
  return dtype == kQUInt8 ? IntegerRange{0, 255} : IntegerRange{-128, 127};
}

Tensor with_parameters(const Tensor& integers, const Tensor& like, double scale, int64_t zero_point) {
  return make_quantized(
      integers.to(c10::toUnderlying(like.scalar_type())), Quantizer::per_tensor(scale, zero_point, like.scalar_type()));
}

/// The integers stay as they are and the zero point moves, as far as the dtype reaches. Beyond, the scale grows.
Tensor add_scalar(bool relu, const Tensor& a, const Scalar& b) {
  const double scale = at::q_scale(a);
  const int64_t zero_point = at::q_zero_point(a);
  const auto [low, high] = range_of(a.scalar_type());
  const float steps = std::nearbyint(b.toFloat() / static_cast<float>(scale));
  TORCH_CHECK(std::abs(steps) < 2147483648.0f, "quantized::add_scalar: ", b, " is too many steps of the scale ", scale);
  const auto added = static_cast<int64_t>(steps);
  const int64_t moved = zero_point - added;
  if (moved >= low && moved <= high) {
    const Tensor integers = integers_of(a);
    return with_parameters(relu ? integers.clamp_min(moved) : integers.clone(), a, scale, moved);
  }
  const double reach = static_cast<double>(moved < low ? high - moved : moved - low);
  const double new_scale = reach / static_cast<double>(high - low) * scale;
  const int64_t new_zero_point = moved < low ? low : high;
  Tensor sums = integers_of(a).to(kInt) - moved;
  if (relu) {
    sums = sums.clamp_min(0);
  }
  const Tensor rounded = (sums.to(kFloat) * static_cast<double>(static_cast<float>(scale / new_scale))).round();
  return with_parameters((rounded.to(kLong) + new_zero_point).clamp(low, high), a, new_scale, new_zero_point);
}
template <bool Relu>
Tensor add_scalar(const Tensor& a, const Scalar& b) {
  return add_scalar(Relu, a, b);
}

/// The integers stay as they are, or are mirrored, and the scale changes.
Tensor mul_scalar(bool relu, const Tensor& a, const Scalar& b) {
  const double factor = b.toDouble(), scale = at::q_scale(a);
  const int64_t zero_point = at::q_zero_point(a);
  const auto [low, high] = range_of(a.scalar_type());
  const Tensor integers = integers_of(a);
  if (factor == 0) {
    return with_parameters(at::zeros_like(integers), a, 1, 0);
  }
  const int64_t new_zero_point = factor > 0 ? zero_point : high - (zero_point - low);
  const Tensor turned = factor > 0 ? integers.clone() : (high + low) - integers.to(kLong);
  return with_parameters(relu ? turned.clamp_min(new_zero_point) : turned, a, std::abs(factor) * scale, new_zero_point);
}
template <bool Relu>
Tensor mul_scalar(const Tensor& a, const Scalar& b) {
  return mul_scalar(Relu, a, b);
}

// Of sums with tensors of one element, PyTorch forgets relu: rows of the table below are no mistake.
using ScalarOperator = Tensor(const Tensor&, const Scalar&);
template <ScalarOperator* op>
Tensor scalar_first(const Scalar& b, const Tensor& a) {
  return op(a, b);
}
template <ScalarOperator* op>
Tensor item_behind(const Tensor& a, const Tensor& b) {
  return op(a, b.item());
}
template <ScalarOperator* op>
Tensor& scalar_out(const Tensor& a, const Scalar& b, Tensor& out) {
  return write_out(op(a, b), out);
}
template <ScalarOperator* op>
Tensor& item_out(const Tensor& a, const Tensor& b, Tensor& out) {
  return write_out(op(a, b.item()), out);
}

Tensor matmul(const Tensor& a, const Tensor& b, double scale, int64_t zero_point) {
  check_same_dtype("quantized::matmul", a, b);
  return requantized(at::matmul(at::dequantize(a), at::dequantize(b)), scale, zero_point, a);
}

Tensor cat(bool relu, TensorList tensors, int64_t dim, std::optional<double> scale, std::optional<int64_t> zero_point) {
  TORCH_CHECK(!tensors.empty(), "quantized::cat: expected a non-empty list of tensors");
  std::vector<Tensor> numbers;
  numbers.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    check_same_dtype("quantized::cat", tensors[0], t);
    numbers.push_back(at::dequantize(t));
  }
  const Tensor joined = at::cat(numbers, dim);
  return requantized(
      relu ? joined.relu() : joined, scale.has_value() ? *scale : at::q_scale(tensors[0]),
      zero_point.has_value() ? *zero_point : at::q_zero_point(tensors[0]), tensors[0]);
}
template <bool Relu>
Tensor cat(TensorList tensors, int64_t dim, std::optional<double> scale, std::optional<int64_t> zero_point) {
  return cat(Relu, tensors, dim, scale, zero_point);
}
template <bool Relu>
Tensor& cat_out(TensorList tensors, int64_t dim, Tensor& out) {
  return write_out(cat<Relu>(tensors, dim, at::q_scale(out), at::q_zero_point(out)), out);
}

// ---- activations ---------------------------------------------------------------

Tensor hardswish(const Tensor& input, double scale, int64_t zero_point) {
  return requantized(at::hardswish(at::dequantize(input)), scale, zero_point, input);
}
Tensor leaky_relu(const Tensor& input, const Scalar& slope, bool, double scale, int64_t zero_point) {
  return requantized(at::leaky_relu(at::dequantize(input), slope), scale, zero_point, input);
}
Tensor sigmoid(const Tensor& input, double scale, int64_t zero_point) {
  return requantized(at::sigmoid(at::dequantize(input)), scale, zero_point, input);
}
Tensor elu(
    const Tensor& input,
    double scale,
    int64_t zero_point,
    const Scalar& alpha,
    const Scalar& factor,
    const Scalar& input_factor) {
  return requantized(at::elu(at::dequantize(input), alpha, factor, input_factor), scale, zero_point, input);
}
Tensor celu(const Tensor& input, double scale, int64_t zero_point, const Scalar& alpha) {
  TORCH_CHECK(alpha.toDouble() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
  return elu(input, scale, zero_point, alpha, 1, 1 / alpha.toDouble());
}
Tensor prelu(const Tensor& input, const Tensor& weight, double scale, int64_t zero_point) {
  return requantized(at::prelu(at::dequantize(input), at::dequantize(weight)), scale, zero_point, input);
}
Tensor softmax(const Tensor& input, int64_t dim, double scale, int64_t zero_point) {
  return requantized(at::softmax(at::dequantize(input), dim), scale, zero_point, input);
}
Tensor relu6(const Tensor& input, bool inplace) {
  const Tensor result = at::hardtanh(input, 0, 6);
  if (inplace) {
    integers_of(input).copy_(integers_of(result));
    return input;
  }
  return result;
}
Tensor clamp(const Tensor& input, const std::optional<Scalar>& low, const std::optional<Scalar>& high) {
  return at::clamp(input, low, high);
}
Tensor threshold(const Tensor& input, const Scalar& limit, const Scalar& value) {
  return at::threshold(input, limit, value);
}
Tensor dropout(const Tensor& input, double, int64_t, const Scalar&, bool) {
  return input;
}

// ---- normalization -------------------------------------------------------------

/// As factor * (integer - zero point) + term for each channel.
template <bool Relu>
Tensor batch_norm(
    const Tensor& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    const Tensor& mean,
    const Tensor& var,
    double eps,
    double scale,
    int64_t zero_point) {
  const Tensor out = at::quantized_batch_norm(input, weight, bias, mean, var, eps, scale, zero_point);
  return Relu ? at::relu(out) : out;
}

Tensor layer_norm(
    const Tensor& input,
    IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    double eps,
    double scale,
    int64_t zero_point) {
  return requantized(
      at::layer_norm(at::dequantize(input), normalized_shape, weight, bias, eps), scale, zero_point, input);
}
Tensor group_norm(
    const Tensor& input,
    int64_t groups,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    double eps,
    double scale,
    int64_t zero_point) {
  return requantized(at::group_norm(at::dequantize(input), groups, weight, bias, eps), scale, zero_point, input);
}
Tensor instance_norm(
    const Tensor& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    double eps,
    double scale,
    int64_t zero_point) {
  TORCH_CHECK(input.dim() >= 3, "quantized::instance_norm: Expected normalized input dim >= 3, got ", input.sizes());
  return group_norm(input, input.size(1), weight, bias, eps, scale, zero_point);
}

// ---- overloads that only TorchScript has ---------------------------------------

Tensor dequantize(const Tensor& q) {
  return at::dequantize(q);
}
std::vector<Tensor> dequantize_list(TensorList list) {
  return at::dequantize(list);
}

// ---- table ---------------------------------------------------------------------

using c10::impl::builtin_kernel;

constexpr OperatorRow kQuantizedRows[] = {
    {"quantized::add", "", "add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     builtin_kernel<&add<false>>()},
    {"quantized::add", "out", "add.out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&add_out<false>>()},
    {"quantized::add_out", "", "add_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&add_out<false>>()},
    {"quantized::add", "Scalar", "add.Scalar(Tensor qa, Scalar b) -> Tensor qc", builtin_kernel<&add_scalar<false>>()},
    {"quantized::add_scalar", "", "add_scalar(Tensor qa, Scalar b) -> Tensor qc", builtin_kernel<&add_scalar<false>>()},
    {"quantized::add", "Scalar2", "add.Scalar2(Scalar b, Tensor qa) -> Tensor qc",
     builtin_kernel<&scalar_first<&add_scalar<false>>>()},
    {"quantized::add_scalar", "Tensor", "add_scalar.Tensor(Tensor qa, Tensor b) -> Tensor qc",
     builtin_kernel<&item_behind<&add_scalar<false>>>()},
    {"quantized::add", "Scalar_out", "add.Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&scalar_out<&add_scalar<false>>>()},
    {"quantized::add_scalar_out", "", "add_scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&scalar_out<&add_scalar<false>>>()},
    {"quantized::add_scalar_out", "Tensor",
     "add_scalar_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&item_out<&add_scalar<false>>>()},
    {"quantized::add_relu", "", "add_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     builtin_kernel<&add<true>>()},
    {"quantized::add_relu", "out", "add_relu.out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&add_out<true>>()},
    {"quantized::add_relu_out", "", "add_relu_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&add_out<true>>()},
    {"quantized::add_relu", "Scalar", "add_relu.Scalar(Tensor qa, Scalar b) -> Tensor qc",
     builtin_kernel<&add_scalar<true>>()},
    {"quantized::add_scalar_relu", "", "add_scalar_relu(Tensor qa, Scalar b) -> Tensor qc",
     builtin_kernel<&add_scalar<true>>()},
    {"quantized::add_relu", "Scalar2", "add_relu.Scalar2(Scalar b, Tensor qa) -> Tensor qc",
     builtin_kernel<&scalar_first<&add_scalar<true>>>()},
    {"quantized::add_scalar_relu", "Tensor", "add_scalar_relu.Tensor(Tensor qa, Tensor b) -> Tensor qc",
     builtin_kernel<&item_behind<&add_scalar<false>>>()},
    {"quantized::add_relu", "Scalar_out", "add_relu.Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&scalar_out<&add_scalar<true>>>()},
    {"quantized::add_scalar_relu_out", "", "add_scalar_relu_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&scalar_out<&add_scalar<true>>>()},
    {"quantized::add_scalar_relu_out", "Tensor",
     "add_scalar_relu_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&item_out<&add_scalar<false>>>()},
    {"quantized::mul", "", "mul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     builtin_kernel<&mul<false>>()},
    {"quantized::mul", "out", "mul.out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&mul_out<false>>()},
    {"quantized::mul_out", "", "mul_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&mul_out<false>>()},
    {"quantized::mul", "Scalar", "mul.Scalar(Tensor qa, Scalar b) -> Tensor qc", builtin_kernel<&mul_scalar<false>>()},
    {"quantized::mul_scalar", "", "mul_scalar(Tensor qa, Scalar b) -> Tensor qc", builtin_kernel<&mul_scalar<false>>()},
    {"quantized::mul", "Scalar2", "mul.Scalar2(Scalar b, Tensor qa) -> Tensor qc",
     builtin_kernel<&scalar_first<&mul_scalar<false>>>()},
    {"quantized::mul_scalar", "Tensor", "mul_scalar.Tensor(Tensor qa, Tensor b) -> Tensor qc",
     builtin_kernel<&item_behind<&mul_scalar<false>>>()},
    {"quantized::mul", "Scalar_out", "mul.Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&scalar_out<&mul_scalar<false>>>()},
    {"quantized::mul_scalar_out", "", "mul_scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&scalar_out<&mul_scalar<false>>>()},
    {"quantized::mul_scalar_out", "Tensor",
     "mul_scalar_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&item_out<&mul_scalar<false>>>()},
    {"quantized::mul_relu", "", "mul_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     builtin_kernel<&mul<true>>()},
    {"quantized::mul_relu", "out", "mul_relu.out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&mul_out<true>>()},
    {"quantized::mul_relu_out", "", "mul_relu_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&mul_out<true>>()},
    {"quantized::mul_relu", "Scalar", "mul_relu.Scalar(Tensor qa, Scalar b) -> Tensor qc",
     builtin_kernel<&mul_scalar<true>>()},
    {"quantized::mul_scalar_relu", "", "mul_scalar_relu(Tensor qa, Scalar b) -> Tensor qc",
     builtin_kernel<&mul_scalar<true>>()},
    {"quantized::mul_relu", "Scalar2", "mul_relu.Scalar2(Scalar b, Tensor qa) -> Tensor qc",
     builtin_kernel<&scalar_first<&mul_scalar<true>>>()},
    {"quantized::mul_scalar_relu", "Tensor", "mul_scalar_relu.Tensor(Tensor qa, Tensor b) -> Tensor qc",
     builtin_kernel<&item_behind<&mul_scalar<true>>>()},
    {"quantized::mul_relu", "Scalar_out", "mul_relu.Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&scalar_out<&mul_scalar<true>>>()},
    {"quantized::mul_scalar_relu_out", "", "mul_scalar_relu_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&scalar_out<&mul_scalar<true>>>()},
    {"quantized::mul_scalar_relu_out", "Tensor",
     "mul_scalar_relu_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out",
     builtin_kernel<&item_out<&mul_scalar<true>>>()},
    {"_quantized::add", "", "add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     builtin_kernel<&add<false>>()},
    {"quantized::cat", "", "cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
     builtin_kernel<&cat<false>>()},
    {"quantized::cat_out", "", "cat_out(Tensor[] qx, int dim, Tensor(a!) out) -> Tensor(a!)",
     builtin_kernel<&cat_out<false>>()},
    {"quantized::batch_norm", "",
     "batch_norm(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int "
     "output_zero_point) -> Tensor",
     builtin_kernel<&batch_norm<false>>()},
    {"quantized::batch_norm1d", "",
     "batch_norm1d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, "
     "int output_zero_point) -> Tensor",
     builtin_kernel<&batch_norm<false>>()},
    {"quantized::batch_norm2d", "",
     "batch_norm2d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, "
     "int output_zero_point) -> Tensor",
     builtin_kernel<&batch_norm<false>>()},
    {"quantized::batch_norm3d", "",
     "batch_norm3d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, "
     "int output_zero_point) -> Tensor",
     builtin_kernel<&batch_norm<false>>()},
    {"quantized::cat_relu", "", "cat_relu(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
     builtin_kernel<&cat<true>>()},
    {"quantized::cat_relu_out", "", "cat_relu_out(Tensor[] qx, int dim, Tensor(a!) out) -> Tensor(a!)",
     builtin_kernel<&cat_out<true>>()},
    {"quantized::batch_norm_relu", "",
     "batch_norm_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, "
     "int output_zero_point) -> Tensor",
     builtin_kernel<&batch_norm<true>>()},
    {"quantized::batch_norm1d_relu", "",
     "batch_norm1d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&batch_norm<true>>()},
    {"quantized::batch_norm2d_relu", "",
     "batch_norm2d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&batch_norm<true>>()},
    {"quantized::batch_norm3d_relu", "",
     "batch_norm3d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&batch_norm<true>>()},
    {"quantized::matmul", "", "matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     builtin_kernel<&matmul>()},
    {"quantized::hardswish", "", "hardswish(Tensor input, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&hardswish>()},
    {"quantized::leaky_relu", "",
     "leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&leaky_relu>()},
    {"quantized::sigmoid", "", "sigmoid(Tensor qx, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&sigmoid>()},
    {"quantized::elu", "",
     "elu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1, Scalar scale=1, Scalar "
     "input_scale=1) -> Tensor",
     builtin_kernel<&elu>()},
    {"quantized::celu", "", "celu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1) -> Tensor",
     builtin_kernel<&celu>()},
    {"quantized::prelu", "", "prelu(Tensor qx, Tensor weight, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&prelu>()},
    {"quantized::softmax", "", "softmax(Tensor qx, int dim, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&softmax>()},
    {"quantized::relu6", "", "relu6(Tensor qx, bool inplace=False) -> Tensor", builtin_kernel<&relu6>()},
    {"quantized::clamp", "", "clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy",
     builtin_kernel<&clamp>()},
    {"quantized::threshold", "", "threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy",
     builtin_kernel<&threshold>()},
    {"quantized::dropout", "",
     "dropout(Tensor self, float output_scale, int output_zero_point, Scalar p=0.5, bool training=False) -> Tensor",
     builtin_kernel<&dropout>()},
    {"quantized::layer_norm", "",
     "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps, float output_scale, "
     "int output_zero_point) -> Tensor",
     builtin_kernel<&layer_norm>()},
    {"quantized::group_norm", "",
     "group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps, float output_scale, int "
     "output_zero_point) -> Tensor",
     builtin_kernel<&group_norm>()},
    {"quantized::instance_norm", "",
     "instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps, float output_scale, int output_zero_point) "
     "-> Tensor",
     builtin_kernel<&instance_norm>()},
    {"quantized::max_pool1d", "",
     "max_pool1d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) -> Tensor",
     builtin_kernel<&at::quantized_max_pool1d>()},
    {"quantized::max_pool2d", "",
     "max_pool2d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) -> Tensor",
     builtin_kernel<&at::quantized_max_pool2d>()},
    {"aten::dequantize", "tensor", "dequantize.tensor(Tensor qtensor) -> Tensor", builtin_kernel<&dequantize>()},
    {"aten::dequantize", "list", "dequantize.list(Tensor[] qtensors) -> Tensor[]", builtin_kernel<&dequantize_list>()},
};

constinit OperatorTable kQuantizedOperators("aten/quantized/quantized_library.cpp", kQuantizedRows);
const RegisteredTable kQuantizedRegistered(kQuantizedOperators);

} // namespace
} // namespace at::quantized
