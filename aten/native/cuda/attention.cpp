// Host side of the kernels attention_*.cu; arguments are checked by aten/shape/attention.cpp.
#include <aten/native/cuda/attention.h>
#include <aten/native/cuda/attention_matrices.h>

#include <aten/ExpandUtils.h>
#include <aten/Functions.h>
#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/native/attention.h>
#include <aten/shape/attention.h>
#include <c10/cuda/CUDAStream.h>

#include <cmath>
#include <mutex>
#include <tuple>

namespace at::native {

namespace cuda {

namespace {

/// As the kernels read it: rows in one piece, that begin at multiples of 16 bytes for tensor cores.
Tensor in_rows(const TensorBase& t) {
  const bool one_piece = t.size(3) == 1 || t.stride(3) == 1;
  const bool aligned = t.stride(0) % 8 == 0 && t.stride(1) % 8 == 0 && t.stride(2) % 8 == 0 &&
      reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) % 16 == 0;
  return one_piece && (aligned || t.scalar_type() == kFloat) ? Tensor(t) : Tensor(t).clone(MemoryFormat::Contiguous);
}

AttentionOperand operand(const TensorBase& t) {
  return {const_cast<void*>(t.const_data_ptr()), t.stride(0), t.stride(1), t.stride(2)};
}

AttentionMask mask_of(const Tensor& mask, c10::ScalarType dtype, IntArrayRef sizes) {
  if (!mask.defined()) {
    return {AttentionMask::Kind::kNone, nullptr, {}};
  }
  const Tensor expanded = mask.expand(sizes);
  const auto kind = mask.scalar_type() == kBool ? AttentionMask::Kind::kBool
      : mask.scalar_type() == dtype             ? AttentionMask::Kind::kSame
                                                : AttentionMask::Kind::kFloat;
  return {
      kind, mask.const_data_ptr(), {expanded.stride(0), expanded.stride(1), expanded.stride(2), expanded.stride(3)}};
}

AttentionProblem problem_of(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, double dropout_p, bool is_causal,
    std::optional<double> scale, float* logsumexp) {
  const int64_t sizes[] = {query.size(0), query.size(1), query.size(2), key.size(2)};
  AttentionProblem p{};
  p.dtype = query.scalar_type();
  p.batch = static_cast<int>(query.size(0));
  p.heads = static_cast<int>(query.size(1));
  p.key_heads = static_cast<int>(key.size(1));
  p.query_length = static_cast<int>(query.size(2));
  p.key_length = static_cast<int>(key.size(2));
  p.head_size = static_cast<int>(query.size(3));
  p.value_size = static_cast<int>(value.size(3));
  p.query = operand(query);
  p.key = operand(key);
  p.value = operand(value);
  p.mask = mask_of(mask, p.dtype, sizes);
  p.scale = static_cast<float>(scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3)))));
  p.causal = is_causal;
  p.dropout = static_cast<float>(dropout_p);
  p.logsumexp = logsumexp;
  p.stream = c10::cuda::getCurrentCUDAStream();
  return p;
}

/// The problem for whole matrices, where no kernel works in tiles.
AttentionMatrices matrices_of(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, double dropout_p, bool is_causal,
    std::optional<double> scale) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      dropout_p == 0, "_scaled_dot_product_efficient_attention on CUDA: weights are dropped for Float and sizes of heads up to "
      "128, for Half and BFloat16 if those are multiples of 8, got ", query.scalar_type(), " and ", query.size(3), ", ", value.size(3),
      ". scaled_dot_product_attention takes others, too");
  return {query, key, value, mask, is_causal, scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3))))};
}

} // namespace

void efficient_attention_kernel(const TensorBase& query, const TensorBase& key, const TensorBase& value, const std::optional<Tensor>& attn_bias, bool compute_log_sumexp, double dropout_p, bool is_causal, std::optional<double> scale, const TensorBase& output, const TensorBase& log_sumexp, const TensorBase& philox_seed, const TensorBase& philox_offset) {
  if (dropout_p == 0) {
    Tensor(philox_seed).zero_();
    Tensor(philox_offset).zero_();
  }
  if (output.numel() == 0) {
    return;
  }
  if (!fits_tiles(query, key, value)) {
    attention_by_matrices(
        matrices_of(Tensor(query), Tensor(key), Tensor(value), attn_bias.value_or(Tensor()), dropout_p, is_causal, scale), Tensor(output),
        Tensor(log_sumexp));
    return;
  }
  const Tensor q = in_rows(query), k = in_rows(key), v = in_rows(value);
  AttentionForward forward{};
  forward.problem = problem_of(
      q, k, v, attn_bias.value_or(Tensor()), dropout_p, is_causal, scale,
      compute_log_sumexp ? static_cast<float*>(log_sumexp.mutable_data_ptr()) : nullptr);
  forward.out = operand(output);
  forward.seed = static_cast<std::int64_t*>(philox_seed.mutable_data_ptr());
  forward.offset = static_cast<std::int64_t*>(philox_offset.mutable_data_ptr());
  if (dropout_p > 0) {
    auto* generator = at::get_generator_or_default<CUDAGeneratorImpl>(std::nullopt, at::cuda::detail::getDefaultCUDAGenerator());
    const std::lock_guard<std::mutex> lock(generator->mutex_);
    forward.philox = generator->philox_cuda_state(4); // each weight's place is a subsequence of its own
  }
  q.scalar_type() == kFloat ? launch_float_attention_forward(forward) : launch_attention_forward(forward);
}

} // namespace cuda

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_attention_backward_cuda(const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_bias, const Tensor& out, const Tensor& logsumexp, const Tensor& philox_seed, const Tensor& philox_offset, double dropout_p, std::array<bool, 4> grad_input_mask, bool is_causal, std::optional<double> scale) {
  at::shape::check_efficient_attention_backward(
      "_scaled_dot_product_efficient_attention_backward", grad_out, query, key, value, attn_bias, out, logsumexp, dropout_p,
      grad_input_mask, is_causal);
  const Tensor grad_query = at::empty_like(query, MemoryFormat::Contiguous);
  const Tensor grad_key = at::empty_like(key, MemoryFormat::Contiguous);
  const Tensor grad_value = at::empty_like(value, MemoryFormat::Contiguous);
  if (query.numel() == 0 || key.numel() == 0 || value.numel() == 0) {
    return {grad_query.zero_(), grad_key.zero_(), grad_value.zero_(), Tensor()};
  }
  if (!fits_tiles(query, key, value)) {
    cuda::attention_by_matrices_backward(
        cuda::matrices_of(query, key, value, attn_bias, dropout_p, is_causal, scale), grad_out, out, logsumexp, grad_query, grad_key,
        grad_value);
    return {grad_query, grad_key, grad_value, Tensor()};
  }
  const Tensor q = cuda::in_rows(query), k = cuda::in_rows(key), v = cuda::in_rows(value);
  const Tensor o = cuda::in_rows(out), g = cuda::in_rows(grad_out), l = logsumexp.contiguous();
  const Tensor delta = at::empty_like(l);
  cuda::AttentionBackward backward{};
  backward.problem = cuda::problem_of(
      q, k, v, attn_bias, dropout_p, is_causal, scale, const_cast<float*>(static_cast<const float*>(l.const_data_ptr())));
  backward.out = cuda::operand(o);
  backward.grad_out = cuda::operand(g);
  backward.grad_query = cuda::operand(grad_query);
  backward.grad_key = cuda::operand(grad_key);
  backward.grad_value = cuda::operand(grad_value);
  backward.delta = static_cast<float*>(delta.mutable_data_ptr());
  backward.seed = static_cast<const std::int64_t*>(philox_seed.const_data_ptr());
  backward.offset = static_cast<const std::int64_t*>(philox_offset.const_data_ptr());
  q.scalar_type() == kFloat ? cuda::launch_float_attention_backward(backward) : cuda::launch_attention_backward(backward);
  return {grad_query, grad_key, grad_value, Tensor()};
}

} // namespace at::native
