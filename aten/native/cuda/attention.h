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

/// Sequences of several lengths, one behind the other in a tensor whose batch stride is 0: that of batch b has the rows
/// starts[b] to starts[b + 1] - 1. Null: each batch has a sequence of the full length.
struct AttentionSequences {
  const std::int32_t* starts;
  std::int64_t rows; // of all sequences
};

/// Keys and values that lie in pages: key j of batch b is row j % rows of page table[b * table_stride + j / rows]. The
/// operands' batch stride is that of a page. Null: there are no pages.
struct AttentionPages {
  const std::int32_t* table;
  std::int64_t table_stride;
  int rows, pages;
};
/// A page of this many rows, or of a multiple of them, has whole tiles.
inline constexpr int kAttentionPageRows = 64;

/// Sizes of heads are at most 256, multiples of 8, for float at most 128. Query heads are a multiple of key heads,
/// which they share in order.
struct AttentionProblem {
  c10::ScalarType dtype; // Half, BFloat16 or Float
  int batch, heads, key_heads, head_size, value_size;
  int query_length, key_length; // of the longest sequence
  AttentionOperand query, key, value;
  AttentionSequences queries, keys;
  const std::int32_t* keys_used; // how many keys of each batch count; null: all
  AttentionPages pages; // forward of Half and BFloat16 alone
  AttentionMask mask;
  const float*
      slopes; // for each head, or each batch and head: what a key loses for each position of distance; null: nothing
  std::int64_t slopes_batch_stride;
  float scale;
  // A query sees keys from `left` positions before its own to `right` positions behind it. Positions are counted from
  // the first query and key, or from the last ones. At most the sum of the lengths.
  int left, right;
  bool from_the_end;
  float dropout; // the part of the weights that is dropped
  float* logsumexp; // [batch, heads, query length], or [heads, rows of all sequences] where the batch stride is 0;
                    // null: not wanted
  std::int64_t sums_batch_stride, sums_head_stride;
  cudaStream_t stream;
};

/// Seed and offset that were used are left in `seed` and `offset`, zeros without dropout.
struct AttentionForward {
  AttentionProblem problem;
  AttentionOperand out;
  PhiloxCudaState philox;
  std::int64_t *seed, *offset;
  // Of Half and BFloat16: blocks that share the keys of a query, at least 1. More than one need attention_parts()
  // floats, where each leaves what it found; a second launch combines that in order.
  int splits = 1;
  float* parts = nullptr;
};
/// How many blocks are to share the keys, so that a device is busy; `wanted`, if positive, where there are keys enough.
int attention_splits(const AttentionForward& p, std::int64_t wanted, int multiprocessors);
std::int64_t attention_parts(const AttentionForward& p);
void launch_attention_forward(const AttentionForward& p); // Half, BFloat16
void launch_float_attention_forward(const AttentionForward& p);

/// `delta`: like logsumexp, filled here. Half and BFloat16 need `query_sums` too: attention_query_sums() floats.
struct AttentionBackward {
  AttentionProblem problem;
  AttentionOperand out, grad_out, grad_query, grad_key, grad_value;
  // The gradient of each score, in the problem's dtype, [batch, heads, query length, key length]; rows begin at
  // multiples of 8 elements, and are filled up to one. What no query sees is not written. Null data: not wanted.
  AttentionOperand grad_scores;
  float* delta;
  const std::int64_t *seed, *offset;
  float* query_sums;
  // Blocks that share the keys of a head, each with its own sums for the queries: results are then the same from run to
  // run. 0: a block for each tile of keys, all of which add to the same sums, in any order.
  int ordered_blocks;
  int shared_bytes; // of shared memory that the device gives a block, at most
};
/// Of Half and BFloat16: whether the device has shared memory enough. Sizes up to 128 need no asking.
bool fits_attention_backward(const AttentionBackward& p);
std::int64_t attention_query_sums(const AttentionBackward& p);
/// Tiles of keys of a head: as many blocks may share them.
int attention_key_tiles(const AttentionBackward& p);
void launch_attention_backward(const AttentionBackward& p); // Half, BFloat16
void launch_float_attention_backward(const AttentionBackward& p);

} // namespace at::native::cuda
