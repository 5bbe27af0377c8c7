#include <aten/autocast/autocast_rules.h>

#include <aten/autocast/autocast_cache.h>
#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <array>
#include <utility>

// The lists are PyTorch's. An operator that is made of others and has no rule follows the rules of those.

namespace at::autocast {

namespace {

using c10::DeviceType;
using c10::DispatchKeySet;
using c10::IValue;
using c10::OperatorHandle;
using c10::ScalarType;
using torch::jit::Stack;

constexpr CastPolicy lower = CastPolicy::lower_precision_fp;
constexpr CastPolicy fp32 = CastPolicy::fp32;
constexpr CastPolicy set_dtype = CastPolicy::fp32_set_opt_dtype;
constexpr CastPolicy append = CastPolicy::fp32_append_dtype;
constexpr CastPolicy promote = CastPolicy::promote;
constexpr CastPolicy banned = CastPolicy::banned;
constexpr CastPolicy none = CastPolicy::none;

// Operator, overload, policy on CPU, policy on CUDA.
constexpr CastRule kRules[] = {
    // Products, convolutions and the cells made of them: fast in lower precision.
    {"aten::_addmm_activation", "", lower, none},
    {"aten::_convolution", "", none, lower},
    {"aten::_convolution", "deprecated", lower, lower},
    {"aten::_native_multi_head_attention", "", lower, none},
    {"aten::_scaled_dot_product_flash_attention", "", none, lower},
    {"aten::_thnn_fused_gru_cell", "", none, lower},
    {"aten::_thnn_fused_lstm_cell", "", none, lower},
    {"aten::addbmm", "", lower, lower},
    {"aten::addmm", "", lower, lower},
    {"aten::addmv", "", none, lower},
    {"aten::addr", "", none, lower},
    {"aten::baddbmm", "", lower, lower},
    {"aten::bmm", "", lower, lower},
    {"aten::chain_matmul", "", none, lower},
    {"aten::conv1d", "", lower, lower},
    {"aten::conv1d", "padding", lower, none},
    {"aten::conv2d", "", lower, lower},
    {"aten::conv2d", "padding", lower, none},
    {"aten::conv3d", "", lower, lower},
    {"aten::conv3d", "padding", lower, none},
    {"aten::conv_tbc", "", lower, lower},
    {"aten::conv_transpose1d", "", lower, lower},
    {"aten::conv_transpose2d", "input", lower, lower},
    {"aten::conv_transpose3d", "input", lower, lower},
    {"aten::convolution", "", none, lower},
    {"aten::cudnn_convolution", "", none, lower},
    {"aten::cudnn_convolution_transpose", "", none, lower},
    {"aten::einsum", "", none, lower},
    {"aten::gru_cell", "", none, lower},
    {"aten::linalg_multi_dot", "", none, lower},
    {"aten::linalg_vecdot", "", lower, lower},
    {"aten::linear", "", lower, lower},
    {"aten::lstm_cell", "", none, lower},
    {"aten::matmul", "", lower, lower},
    {"aten::mkldnn_rnn_layer", "", lower, none},
    {"aten::mm", "", lower, lower},
    {"aten::mv", "", none, lower},
    {"aten::prelu", "", lower, lower},
    {"aten::rnn_relu_cell", "", none, lower},
    {"aten::rnn_tanh_cell", "", none, lower},
    {"aten::scaled_dot_product_attention", "", lower, lower},
    // Operators of several tensors that must agree.
    {"aten::addcdiv", "", none, promote},
    {"aten::addcmul", "", none, promote},
    {"aten::atan2", "", none, promote},
    // On the CPU PyTorch has no rule for it, but there it is made of products and sums of elements, which promote too.
    {"aten::bilinear", "", promote, promote},
    {"aten::cat", "", promote, none},
    {"aten::cross", "", none, promote},
    {"aten::dot", "", none, promote},
    {"aten::grid_sampler", "", fp32, promote},
    {"aten::index_copy", "", promote, none},
    {"aten::index_put", "", none, promote},
    {"aten::scatter_add", "", none, promote},
    {"aten::stack", "", promote, none},
    {"aten::tensordot", "", none, promote},
    {"aten::vdot", "", none, promote},
    // Functions with poles or a large range.
    {"aten::acos", "", none, fp32},
    {"aten::asin", "", none, fp32},
    {"aten::cosh", "", none, fp32},
    {"aten::erfinv", "", none, fp32},
    {"aten::exp", "", none, fp32},
    {"aten::expm1", "", none, fp32},
    {"aten::log", "", none, fp32},
    {"aten::log10", "", none, fp32},
    {"aten::log1p", "", none, fp32},
    {"aten::log2", "", none, fp32},
    {"aten::polar", "", fp32, none},
    {"aten::pow", "Scalar", none, fp32},
    {"aten::pow", "Tensor_Scalar", none, fp32},
    {"aten::pow", "Tensor_Tensor", none, fp32},
    {"aten::reciprocal", "", none, fp32},
    {"aten::rsqrt", "", none, fp32},
    {"aten::sinh", "", none, fp32},
    {"aten::softplus", "", none, fp32},
    {"aten::tan", "", none, fp32},
    // Sums, products and what is normalised by them.
    {"aten::cumprod", "", none, set_dtype},
    {"aten::cumsum", "", none, set_dtype},
    {"aten::log_softmax", "int", none, set_dtype},
    {"aten::logsumexp", "", none, fp32},
    {"aten::nanquantile", "", fp32, none},
    {"aten::nanquantile", "scalar", fp32, none},
    {"aten::prod", "", fp32, set_dtype},
    {"aten::prod", "dim_int", fp32, set_dtype},
    {"aten::quantile", "", fp32, none},
    {"aten::quantile", "scalar", fp32, none},
    {"aten::softmax", "int", none, set_dtype},
    {"aten::sum", "", none, set_dtype},
    {"aten::sum", "dim_IntList", none, set_dtype},
    {"aten::trace", "", fp32, none},
    // Norms and distances.
    {"aten::cdist", "", fp32, fp32},
    {"aten::dist", "", none, fp32},
    {"aten::frobenius_norm", "dim", none, fp32},
    {"aten::group_norm", "", none, fp32},
    {"aten::layer_norm", "", none, fp32},
    {"aten::linalg_matrix_norm", "", none, set_dtype},
    {"aten::linalg_matrix_norm", "str_ord", none, set_dtype},
    {"aten::linalg_vector_norm", "", none, set_dtype},
    {"aten::native_layer_norm", "", none, fp32},
    {"aten::norm", "Scalar", none, append},
    {"aten::norm", "ScalarOpt_dim", none, append},
    {"aten::nuclear_norm", "", none, fp32},
    {"aten::nuclear_norm", "dim", none, fp32},
    {"aten::pdist", "", none, fp32},
    {"aten::renorm", "", none, fp32},
    {"aten::rms_norm", "", none, fp32},
    // Losses.
    {"aten::binary_cross_entropy", "", fp32, banned},
    {"aten::binary_cross_entropy_with_logits", "", fp32, fp32},
    {"aten::cosine_embedding_loss", "", fp32, fp32},
    {"aten::cosine_similarity", "", none, fp32},
    {"aten::cross_entropy_loss", "", fp32, none},
    {"aten::ctc_loss", "IntList", fp32, none},
    {"aten::ctc_loss", "Tensor", fp32, none},
    {"aten::hinge_embedding_loss", "", fp32, fp32},
    {"aten::huber_loss", "", fp32, fp32},
    {"aten::kl_div", "", fp32, fp32},
    {"aten::l1_loss", "", fp32, fp32},
    {"aten::margin_ranking_loss", "", fp32, fp32},
    {"aten::mse_loss", "", fp32, fp32},
    {"aten::multi_margin_loss", "", fp32, fp32},
    {"aten::multilabel_margin_loss", "", fp32, fp32},
    {"aten::multilabel_margin_loss_forward", "", fp32, none},
    {"aten::nll_loss", "", fp32, fp32},
    {"aten::nll_loss2d", "", fp32, fp32},
    {"aten::poisson_nll_loss", "", fp32, fp32},
    {"aten::smooth_l1_loss", "", fp32, fp32},
    {"aten::soft_margin_loss", "", fp32, fp32},
    {"aten::triplet_margin_loss", "", fp32, fp32},
    // Decompositions and solutions, which have no kernels in lower precision.
    {"aten::_lu_with_info", "", fp32, none},
    {"aten::cholesky_inverse", "", fp32, none},
    {"aten::cholesky_solve", "", fp32, none},
    {"aten::geqrf", "", fp32, none},
    {"aten::inverse", "", fp32, none},
    {"aten::_grid_sampler_2d_cpu_fallback", "", fp32, none},
    {"aten::fake_quantize_per_tensor_affine", "", fp32, none},
    {"aten::linalg_cholesky", "", fp32, none},
    {"aten::linalg_cholesky_ex", "", fp32, none},
    {"aten::linalg_cond", "", fp32, none},
    {"aten::linalg_cond", "p_str", fp32, none},
    {"aten::linalg_eig", "", fp32, none},
    {"aten::linalg_eigh", "", fp32, none},
    {"aten::linalg_eigvals", "", fp32, none},
    {"aten::linalg_eigvalsh", "", fp32, none},
    {"aten::linalg_householder_product", "", fp32, none},
    {"aten::linalg_inv", "", fp32, none},
    {"aten::linalg_inv_ex", "", fp32, none},
    {"aten::linalg_lstsq", "", fp32, none},
    {"aten::linalg_matrix_sqrth", "", fp32, fp32},
    {"aten::linalg_matrix_rank", "", fp32, none},
    {"aten::linalg_matrix_rank", "atol_rtol_float", fp32, none},
    {"aten::linalg_matrix_rank", "atol_rtol_tensor", fp32, none},
    {"aten::linalg_matrix_rank", "tol_tensor", fp32, none},
    {"aten::linalg_qr", "", fp32, none},
    {"aten::linalg_solve", "", fp32, none},
    {"aten::linalg_svd", "", fp32, none},
    {"aten::linalg_svdvals", "", fp32, none},
    {"aten::linalg_tensorinv", "", fp32, none},
    {"aten::linalg_tensorsolve", "", fp32, none},
    {"aten::lu_solve", "", fp32, none},
    {"aten::orgqr", "", fp32, none},
    {"aten::ormqr", "", fp32, none},
    {"aten::pinverse", "", fp32, none},
    {"aten::svd", "", fp32, none},
    {"aten::triangular_solve", "", fp32, none},
    // Transforms.
    {"aten::fft_fft", "", fp32, none},
    {"aten::fft_fft2", "", fp32, none},
    {"aten::fft_fftn", "", fp32, none},
    {"aten::fft_hfft", "", fp32, none},
    {"aten::fft_ifft", "", fp32, none},
    {"aten::fft_ifft2", "", fp32, none},
    {"aten::fft_ifftn", "", fp32, none},
    {"aten::fft_ihfft", "", fp32, none},
    {"aten::fft_irfft", "", fp32, none},
    {"aten::fft_irfft2", "", fp32, none},
    {"aten::fft_irfftn", "", fp32, none},
    {"aten::fft_rfft", "", fp32, none},
    {"aten::fft_rfft2", "", fp32, none},
    {"aten::fft_rfftn", "", fp32, none},
    {"aten::stft", "", fp32, none},
    {"aten::stft", "center", fp32, none},
    {"aten::view_as_complex", "", fp32, none},
    // Pooling, padding, sampling and resizing.
    {"aten::_upsample_bicubic2d_aa", "", none, fp32},
    {"aten::_upsample_bilinear2d_aa", "", none, fp32},
    {"aten::_upsample_nearest_exact1d", "", none, fp32},
    {"aten::_upsample_nearest_exact2d", "", none, fp32},
    {"aten::_upsample_nearest_exact3d", "", none, fp32},
    {"aten::adaptive_avg_pool3d", "", fp32, none},
    {"aten::adaptive_max_pool3d", "", fp32, none},
    {"aten::avg_pool3d", "", fp32, none},
    {"aten::fractional_max_pool2d", "", fp32, none},
    {"aten::fractional_max_pool3d", "", fp32, none},
    {"aten::grid_sampler_2d", "", fp32, none},
    {"aten::grid_sampler_3d", "", fp32, none},
    {"aten::max_pool3d", "", fp32, none},
    {"aten::max_unpool2d", "", fp32, none},
    {"aten::max_unpool3d", "", fp32, none},
    {"aten::reflection_pad1d", "", fp32, none},
    {"aten::reflection_pad2d", "", fp32, none},
    {"aten::replication_pad1d", "", fp32, none},
    {"aten::replication_pad2d", "", fp32, none},
    {"aten::replication_pad3d", "", fp32, none},
    {"aten::upsample_bicubic2d", "", none, fp32},
    {"aten::upsample_bilinear2d", "", none, fp32},
    {"aten::upsample_linear1d", "", none, fp32},
    {"aten::upsample_nearest1d", "", none, fp32},
    {"aten::upsample_nearest2d", "", none, fp32},
    {"aten::upsample_nearest3d", "", none, fp32},
    {"aten::upsample_trilinear3d", "", none, fp32},
};

// --- kernels
// -------------------------------------------------------------------------------------------------------------

// The arguments of the call, at the end of the stack.
struct Arguments {
  Arguments(const OperatorHandle& op, Stack& stack)
      : schema(op.schema().arguments()), first(stack.data() + (stack.size() - schema.size())) {}

  const std::vector<c10::Argument>& schema;
  IValue* const first;
};

void cast_argument(IValue& value, ScalarType to_type, DeviceType device_type) {
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    if (is_eligible(tensor, device_type) && tensor.scalar_type() != to_type) {
      value = cached_cast(to_type, tensor, device_type);
    }
  } else if (value.isTensorList()) {
    value = cached_cast(to_type, ITensorListRef(value.toTensorVector()), device_type);
  }
}

/// Two or three float tensors on CUDA, as a layer's input, weight and bias, become half or bfloat16 by one launch;
/// their gradients come back by one, too.
void cast_some_together(const Arguments& arguments, ScalarType to_type) {
  std::array<Tensor, 3> tensors;
  std::array<IValue*, 3> places{};
  size_t count = 0;
  for (size_t i = 0; i < arguments.schema.size() && count < tensors.size(); ++i) {
    IValue& value = arguments.first[i];
    if (!value.isTensor() || !can_be_cast_together(value.toTensor())) {
      continue;
    }
    if (std::any_of(
            tensors.begin(), tensors.begin() + count, [&](const Tensor& t) { return t.is_same(value.toTensor()); })) {
      continue;
    }
    places[count] = &value;
    tensors[count++] = value.toTensor();
  }
  if (cast_together(to_type, {tensors.data(), count})) {
    for (size_t i = 0; i < count; ++i) {
      *places[i] = std::move(tensors[i]);
    }
  }
}

void cast_arguments(const Arguments& arguments, ScalarType to_type, DeviceType device_type) {
  if (device_type == DeviceType::CUDA && c10::isReducedFloatingType(to_type)) {
    cast_some_together(arguments, to_type);
  }
  for (size_t i = 0; i < arguments.schema.size(); ++i) {
    cast_argument(arguments.first[i], to_type, device_type);
  }
}

// Optional tensors, such as a bias, have no say.
ScalarType widest_dtype(const Arguments& arguments, DeviceType device_type) {
  ScalarType widest = get_lower_precision_fp_from_device_type(device_type);
  for (size_t i = 0; i < arguments.schema.size(); ++i) {
    const IValue& value = arguments.first[i];
    if (value.isTensor() && arguments.schema[i].type()->kind() == c10::TypeKind::TensorType) {
      widest = prioritize(widest, value.toTensor(), device_type);
    } else if (value.isTensorList()) {
      widest = prioritize(widest, ITensorListRef(value.toTensorVector()), device_type);
    }
  }
  return widest;
}

bool is_optional_dtype(const c10::Argument& argument) {
  const auto* optional = argument.real_type()->castRaw<c10::OptionalType>();
  return optional != nullptr && optional->getElementType()->kind() == c10::TypeKind::ScalarTypeType;
}

void set_optional_dtype(const Arguments& arguments, ScalarType dtype) {
  for (size_t i = 0; i < arguments.schema.size(); ++i) {
    if (arguments.first[i].isNone() && is_optional_dtype(arguments.schema[i])) {
      arguments.first[i] = dtype;
    }
  }
}

// The overload of norm that takes a dtype after the arguments of `op`.
const OperatorHandle& norm_with_dtype(const OperatorHandle& op) {
  auto& dispatcher = c10::Dispatcher::singleton();
  static const OperatorHandle whole = dispatcher.findSchemaOrThrow("aten::norm", "ScalarOpt_dtype");
  static const OperatorHandle along = dispatcher.findSchemaOrThrow("aten::norm", "ScalarOpt_dim_dtype");
  return op.operator_name().overload_name == "Scalar" ? whole : along;
}

} // namespace

void call_by_policy(
    CastPolicy policy, DeviceType device_type, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const c10::DispatchKey own = get_autocast_dispatch_key_from_device_type(device_type);
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(own);
  const Arguments arguments(op, *stack);
  const auto first_is_eligible = [&] {
    return arguments.first[0].isTensor() && is_eligible(arguments.first[0].toTensor(), device_type);
  };
  switch (policy) {
    case CastPolicy::lower_precision_fp:
      cast_arguments(arguments, get_lower_precision_fp_from_device_type(device_type), device_type);
      break;
    case CastPolicy::fp32:
      cast_arguments(arguments, ScalarType::Float, device_type);
      break;
    case CastPolicy::fp32_set_opt_dtype:
      // Else the operator makes up its own mind: integers, for instance, are summed as such.
      if (first_is_eligible()) {
        set_optional_dtype(arguments, ScalarType::Float);
      }
      break;
    case CastPolicy::fp32_append_dtype:
      stack->emplace_back(first_is_eligible() ? ScalarType::Float : arguments.first[0].toTensor().scalar_type());
      norm_with_dtype(op).callBoxed(stack);
      return;
    case CastPolicy::promote:
      cast_arguments(arguments, widest_dtype(arguments, device_type), device_type);
      break;
    case CastPolicy::banned:
      TORCH_CHECK(
          false,
          "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: ", op.operator_name(),
          " takes a probability, which lower precision rounds to 0 or 1, and its logarithm is infinite. ",
          "Use binary_cross_entropy_with_logits (BCEWithLogitsLoss) in place of sigmoid and this, or leave autocast "
          "for it");
    case CastPolicy::none:
      break;
  }
  op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, own), stack);
}

c10::ArrayRef<CastRule> cast_rules() {
  return kRules;
}

// --- registration
// --------------------------------------------------------------------------------------------------------

namespace {

template <CastPolicy policy, DeviceType device_type>
void boxed_kernel(c10::OperatorKernel*, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  call_by_policy(policy, device_type, op, keys, stack);
}

// No unboxed form and no signature of its own: it serves operators of all types.
template <CastPolicy policy, DeviceType device_type>
constexpr c10::impl::BuiltinKernel kernel_for{nullptr, &boxed_kernel<policy, device_type>, nullptr, false};

template <DeviceType device_type>
constexpr const c10::impl::BuiltinKernel* kernel_of(CastPolicy policy) {
  switch (policy) {
    case lower:
      return &kernel_for<lower, device_type>;
    case fp32:
      return &kernel_for<fp32, device_type>;
    case set_dtype:
      return &kernel_for<set_dtype, device_type>;
    case append:
      return &kernel_for<append, device_type>;
    case promote:
      return &kernel_for<promote, device_type>;
    case banned:
      return &kernel_for<banned, device_type>;
    case none:
      break;
  }
  return nullptr;
}

constexpr size_t count_rows() {
  size_t count = 0;
  for (const CastRule& rule : kRules) {
    count += (rule.cpu != none) + (rule.cuda != none);
  }
  return count;
}

constexpr auto make_rows() {
  std::array<c10::impl::BuiltinKernelRow, count_rows()> rows{};
  size_t next = 0;
  for (const CastRule& rule : kRules) {
    const auto add = [&](c10::DispatchKey key, CastPolicy policy, const c10::impl::BuiltinKernel* kernel) {
      if (policy != none) {
        rows[next++] = {rule.name, rule.overload_name, key, kernel, "aten/autocast/autocast_rules.cpp"};
      }
    };
    add(c10::DispatchKey::AutocastCPU, rule.cpu, kernel_of<DeviceType::CPU>(rule.cpu));
    add(c10::DispatchKey::AutocastCUDA, rule.cuda, kernel_of<DeviceType::CUDA>(rule.cuda));
  }
  return rows;
}

constinit const auto kRows = make_rows();

struct Registration {
  Registration() {
    c10::impl::BuiltinRegistrar::implement(kRows.data(), kRows.size());
  }
} const registered;

} // namespace

} // namespace at::autocast
