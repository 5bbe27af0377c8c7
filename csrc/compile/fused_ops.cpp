#include <csrc/compile/fused_ops.h>

#include <aten/Functions.h>
#include <aten/core/from_blob.h>
#include <aten/library/library.h>
#include <aten/native/onednn/packed_matmul.h>
#include <aten/native/support/batch_norm_parts.h>
#include <aten/native/support/conv_epilogue.h>
#include <aten/native/support/cpu_isa.h>
#include <c10/util/Exception.h>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

namespace torch::fused {

namespace {

using at::Tensor;
using at::native::onednn::Activation;
using at::native::onednn::PackedMatmul;

Activation activation_of(std::string_view name) {
  TORCH_CHECK(name == "none" || name == "relu" || name == "silu", "there is no activation ", std::string(name));
  return name == "relu" ? Activation::Relu : name == "silu" ? Activation::Silu : Activation::None;
}

Tensor convolution(
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    at::IntArrayRef stride,
    at::IntArrayRef padding,
    at::IntArrayRef dilation,
    int64_t groups,
    const std::optional<Tensor>& other,
    std::string_view activation) {
  const Activation function = activation_of(activation);
  if (auto done = at::native::convolution_with_epilogue(
          input, weight, bias, stride, padding, dilation, groups, other, function)) {
    return std::move(*done);
  }
  Tensor result = at::convolution(input, weight, bias, stride, padding, dilation, false, {0}, groups);
  result = other && other->defined() ? result.add_(*other) : result;
  result = function == Activation::Relu ? result.relu_() : function == Activation::Silu ? at::silu_(result) : result;
  return result.contiguous(c10::MemoryFormat::ChannelsLast);
}

/// The problem with operands by rows, as they come.
PackedMatmul problem_of(int64_t rows, int64_t columns, int64_t terms, bool has_bias, Activation activation) {
  return {rows, columns, terms, terms, columns, has_bias, activation};
}

/// Packed weights, so that graphs for several sizes share them. Entries keep no memory alive but that of the weight
/// whose address is in the key, as long as the packed bytes are used.
class PackedWeights {
 public:
  Tensor get(
      const Tensor& weight,
      bool is_transposed,
      const PackedMatmul& problem,
      const at::native::onednn::PackedLayout& layout) {
    const int64_t row_stride = weight.stride(is_transposed ? 1 : 0), col_stride = weight.stride(is_transposed ? 0 : 1);
    const int64_t version = weight.is_inference() ? 0 : weight._version();
    const Key key{weight.const_data_ptr(), version, row_stride, col_stride, problem.k, problem.n, layout.id};
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end()) {
      if (auto alive = found->second.lock()) {
        return Tensor(std::move(alive));
      }
      known_.erase(found);
    }
    for (auto entry = known_.begin(); entry != known_.end();) {
      entry = entry->second.expired() ? known_.erase(entry) : std::next(entry);
    }
    const Tensor bytes = at::empty({static_cast<int64_t>(layout.bytes)}, at::TensorOptions(c10::kByte));
    at::native::onednn::pack_right_factor(
        problem, weight.const_data_ptr<float>(), row_stride, col_stride, bytes.mutable_data_ptr());
    // The weight's memory stays as long as the bytes: another at its address cannot be taken for it.
    struct Held {
      Tensor bytes, weight;
    };
    auto* const held = new Held{bytes, weight.detach()};
    const Tensor packed = at::from_blob(
        bytes.mutable_data_ptr(), bytes.sizes(), [held](void*) { delete held; }, at::TensorOptions(c10::kByte));
    known_.emplace(key, packed.getIntrusivePtr());
    return packed;
  }

 private:
  using Key = std::tuple<const void*, int64_t, int64_t, int64_t, int64_t, int64_t, std::string>;
  std::mutex mutex_;
  std::map<Key, c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>> known_;
};

Tensor pack_weight(const Tensor& weight, bool is_transposed, int64_t rows) {
  TORCH_CHECK(
      weight.dim() == 2 && weight.scalar_type() == at::kFloat, "pack_weight: expected a matrix of floats, got ",
      weight.sizes(), " ", weight.scalar_type());
  const PackedMatmul problem =
      problem_of(rows, weight.size(is_transposed ? 0 : 1), weight.size(is_transposed ? 1 : 0), false, Activation::None);
  const auto layout = at::native::onednn::packed_layout(problem);
  TORCH_CHECK(layout, "pack_weight: no kernel takes packed weights here");
  static auto* const packed = new PackedWeights(); // is used until the process ends
  return packed->get(weight, is_transposed, problem, *layout);
}

Tensor linear(
    const Tensor& input,
    const Tensor& packed,
    const std::optional<Tensor>& bias,
    int64_t columns,
    std::string_view activation) {
  TORCH_CHECK(
      input.dim() == 2 && input.scalar_type() == at::kFloat, "linear: expected a matrix of floats, got ", input.sizes(),
      " ", input.scalar_type());
  const Tensor rows = input.contiguous(), start = bias && bias->defined() ? bias->contiguous() : Tensor();
  TORCH_CHECK(!start.defined() || start.numel() == columns, "linear: expected a bias of ", columns, " elements");
  const PackedMatmul problem =
      problem_of(rows.size(0), columns, rows.size(1), start.defined(), activation_of(activation));
  Tensor result = at::empty({rows.size(0), columns}, input.options());
  at::native::onednn::packed_matmul(
      problem, rows.const_data_ptr<float>(), packed.const_data_ptr(), result.mutable_data_ptr<float>(),
      start.defined() ? start.const_data_ptr<float>() : nullptr);
  return result;
}

Tensor or_undefined(const std::optional<Tensor>& tensor) {
  return tensor ? *tensor : Tensor();
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> batch_norm_statistics(
    const Tensor& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& running_mean,
    const std::optional<Tensor>& running_var,
    double momentum,
    double eps) {
  at::native::BatchNormStatistics made = at::native::batch_norm_statistics(
      input, or_undefined(weight), or_undefined(running_mean), or_undefined(running_var), momentum, eps);
  return {
      std::move(made.mean), std::move(made.invstd), std::move(made.scale), std::move(made.running_mean),
      std::move(made.running_var)};
}

/// Of vectors the kernels take such as lie side by side.
at::native::BatchNormSaved saved_of(
    const Tensor& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    const Tensor& mean,
    const Tensor& invstd,
    const std::optional<Tensor>& scale) {
  const auto vector = [](const std::optional<Tensor>& tensor) {
    return tensor && tensor->defined() ? tensor->contiguous() : Tensor();
  };
  return {input, vector(weight), vector(bias), mean.contiguous(), invstd.contiguous(), vector(scale)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> batch_norm_gradients(
    const Tensor& grad,
    const Tensor& input,
    const std::optional<Tensor>& weight,
    const Tensor& mean,
    const Tensor& invstd,
    std::array<bool, 2> wanted) {
  at::native::BatchNormGradients made =
      at::native::batch_norm_gradients(grad, saved_of(input, weight, {}, mean, invstd, {}), wanted);
  return {
      std::move(made.scale), std::move(made.slope), std::move(made.shift), std::move(made.weight),
      std::move(made.bias)};
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_activation_backward(
    const Tensor& grad,
    const Tensor& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    const Tensor& mean,
    const Tensor& invstd,
    const Tensor& scale,
    std::array<bool, 2> wanted,
    std::string_view activation) {
  return at::native::batch_norm_activation_backward(
      grad, saved_of(input, weight, bias, mean, invstd, scale), wanted, activation_of(activation));
}

} // namespace

bool can_pack(int64_t rows, int64_t columns, int64_t terms, bool has_bias) {
  // Of a few rows dot products over the weight as it lies are as fast, and take no second copy of it.
  constexpr int64_t kLeastRows = 8, kLeastSize = 32;
  if (rows < kLeastRows || columns < kLeastSize || terms < kLeastSize) {
    return false;
  }
  return at::native::onednn::packed_layout(problem_of(rows, columns, terms, has_bias, Activation::None)).has_value();
}

void register_fused_ops() {
  static const auto* const library = [] {
    auto* const made = new torch::Library(torch::Library::FRAGMENT, "fused", std::nullopt, __FILE__, __LINE__);
    made->def(
        "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int "
        "groups, Tensor? other, str activation) -> Tensor");
    made->def("pack_weight(Tensor weight, bool is_transposed, int rows) -> Tensor");
    made->def("linear(Tensor input, Tensor packed, Tensor? bias, int columns, str activation) -> Tensor");
    made->def(
        "batch_norm_statistics(Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, float "
        "momentum, "
        "float eps) -> (Tensor mean, Tensor invstd, Tensor scale, Tensor running_mean_out, Tensor running_var_out)");
    made->def(
        "batch_norm_gradients(Tensor grad, Tensor input, Tensor? weight, Tensor mean, Tensor invstd, bool[2] wanted) "
        "-> (Tensor scale, Tensor slope, Tensor shift, Tensor grad_weight, Tensor grad_bias)");
    made->def(
        "batch_norm_activation_backward(Tensor grad, Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor "
        "invstd, Tensor scale, bool[2] wanted, str activation) -> (Tensor grad_input, Tensor grad_weight, Tensor "
        "grad_bias)");
    made->impl("convolution", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(convolution)));
    made->impl("pack_weight", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(pack_weight)));
    made->impl("linear", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(linear)));
    made->impl("batch_norm_statistics", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(batch_norm_statistics)));
    made->impl("batch_norm_gradients", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(batch_norm_gradients)));
    made->impl(
        "batch_norm_activation_backward",
        torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(batch_norm_activation_backward)));
    return made;
  }();
  static_cast<void>(library);
}

} // namespace torch::fused
