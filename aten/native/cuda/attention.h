// Launches of attention in tiles: for 16-bit floats on tensor cores, and for float.
#pragma once

#include <aten/cuda/PhiloxCudaState.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// A tensor [batch, heads, length, size] whose rows lie together, and for 16-bit floats begin at multiples of 16 bytes.
struct AttentionOperand {
  void* data;
  std::int64_t batch_stride, head_stride, row_stride;
};

/// What is added to the scores, or where they count: [batch, heads, query length, key length], of any strides.
struct AttentionMask {
  enum class Kind { kNone, kBool, kSame, kFloat }; // kSame: of the operands' dtype
  Kind kind;
  const void* data;
  std::int64_t strides[4];
};

/// Sizes of heads are at most 128, for 16-bit floats multiples of 8. Query heads are a multiple of key heads, which they share in order.
struct AttentionProblem {
  c10::ScalarType dtype; // Half, BFloat16 or Float
  int batch, heads, key_heads, query_length, key_length, head_size, value_size;
  AttentionOperand query, key, value;
  AttentionMask mask;
  float scale;
  bool causal;
  float dropout; // the part of the weights that is dropped
  float* logsumexp; // [batch, heads, query length]; null: not wanted
  cudaStream_t stream;
};

/// Seed and offset that were used are left in `seed` and `offset`, if there is dropout.
struct AttentionForward {
  AttentionProblem problem;
  AttentionOperand out;
  PhiloxCudaState philox;
  std::int64_t *seed, *offset;
};
void launch_attention_forward(const AttentionForward& p); // Half, BFloat16
void launch_float_attention_forward(const AttentionForward& p);

/// `delta`: [batch, heads, query length], filled here.
struct AttentionBackward {
  AttentionProblem problem;
  AttentionOperand out, grad_out, grad_query, grad_key, grad_value;
  float* delta;
  const std::int64_t *seed, *offset;
};
void launch_attention_backward(const AttentionBackward& p); // Half, BFloat16
void launch_float_attention_backward(const AttentionBackward& p);

} // namespace at::native::cuda
