// Attention of a few rows of queries with a run of keys, compiled once for each instruction set.
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

namespace v2 {
void attend(const QueryRows& queries, const KeyRun& run);
void widen(const StoredRows& from, int64_t rows, int64_t dim, float* to);
} // namespace v2
namespace v3 {
void attend(const QueryRows& queries, const KeyRun& run);
void widen(const StoredRows& from, int64_t rows, int64_t dim, float* to);
} // namespace v3
namespace v4 {
void attend(const QueryRows& queries, const KeyRun& run);
void widen(const StoredRows& from, int64_t rows, int64_t dim, float* to);
} // namespace v4

} // namespace torch::llm
