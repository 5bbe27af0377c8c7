// Loops over rows of queries, keys and values, compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace torch::llm {

/// Keys of a run: what the buffers of scores hold.
constexpr int64_t kKeyRun = 64;

/// Queries that share a head of keys, and what they have gathered so far.
struct QueryRows {
  int64_t rows;
  int64_t dim;
  const float* query; ///< rows x dim, multiplied by the scale
  float* gathered; ///< rows x dim: sums of values, each times exp(score - peak)
  float* peak; ///< the largest score of each row
  float* total; ///< sum of exp(score - peak)
  float softcap; ///< 0: none
};

/// A run of keys in float, at most kKeyRun. Row r sees keys [first[r], last[r]).
struct KeyRun {
  int64_t count;
  const float* keys;
  const float* values;
  int64_t stride; ///< elements from one key to the next, and of values
  const int64_t* first;
  const int64_t* last;
};

/// Elements of a cache as they are stored.
enum class Stored { Float, BFloat16, Half, Int8, Float8 };

struct StoredRows {
  Stored kind;
  const void* data;
  int64_t stride; ///< elements
  const float* scales; ///< Int8: one for each row
  int64_t scale_stride;
};

/// Heads of some tokens in float.
struct HeadRows {
  float* data;
  int64_t tokens, heads;
  int64_t token_stride, head_stride; ///< elements
};

// attend: adds a run of keys to what queries have gathered.
// widen: rows as float.
// turn: the pairs (i, pairs + i) of each head by the angles of its token, whose cosines and sines are tokens x pairs.
namespace v2 {
void attend(const QueryRows& queries, const KeyRun& run);
void widen(const StoredRows& from, int64_t rows, int64_t dim, float* to);
void turn(const HeadRows& rows, const float* cos, const float* sin, int64_t pairs);
} // namespace v2
namespace v3 {
void attend(const QueryRows& queries, const KeyRun& run);
void widen(const StoredRows& from, int64_t rows, int64_t dim, float* to);
void turn(const HeadRows& rows, const float* cos, const float* sin, int64_t pairs);
} // namespace v3
namespace v4 {
void attend(const QueryRows& queries, const KeyRun& run);
void widen(const StoredRows& from, int64_t rows, int64_t dim, float* to);
void turn(const HeadRows& rows, const float* cos, const float* sin, int64_t pairs);
} // namespace v4

/// The functions of one instruction set.
struct RowKernels {
  void (*attend)(const QueryRows&, const KeyRun&);
  void (*widen)(const StoredRows&, int64_t, int64_t, float*);
  void (*turn)(const HeadRows&, const float*, const float*, int64_t);
};

/// Those of the best one that this processor has.
const RowKernels& row_kernels();

} // namespace torch::llm
