#pragma once
// Quantized tables of embeddings.

#include <aten/library/custom_class.h>
#include <aten/quantized/QTensorImpl.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace at::quantized {

/// Rows of codes of 8, 4 or 2 bits, the first in the lowest bits of a byte, each followed by its scale and offset, of
/// float32 behind codes of 8 bits and of half behind others: an element is scale * code + offset.
struct FusedRows {
  /// Throws unless `fused` is a uint8 tensor on the CPU whose rows (of its last dimension) have a scale and an offset.
  FusedRows(const char* op, const Tensor& fused, int64_t bits);

  /// Codes that fill the bytes of a row.
  int64_t columns() const {
    return (row_bytes - factor_bytes()) * (8 / bits);
  }
  /// Bytes of scale and offset.
  int64_t factor_bytes() const {
    return bits == 8 ? 8 : 4;
  }
  /// Adds `weight` times the elements of a row to `columns` floats.
  void add_row(int64_t row, float weight, int64_t columns, float* out) const;

  Tensor memory;
  const uint8_t* data;
  int64_t rows, row_bytes, bits;
};

/// Arguments of embedding_bag beside the table, as its operators have them.
struct BagOptions {
  std::optional<Tensor> offsets, per_sample_weights, compressed_indices_mapping;
  bool pruned_weights = false, include_last_offset = false;
};

/// The sum of the rows of each bag, as float32 [bags, columns]. Throws for indices that are out of range.
Tensor sum_bags(
    const char* op, const FusedRows& table, int64_t columns, const Tensor& indices, const BagOptions& options);

/// Rounds rows of float32 or half to fused rows, between the smallest and the largest element of each, or those that
/// `min_max`, [rows, 2], names. With `optimized`, the range that loses least is looked for, see choose_range.
Tensor fuse_rows(
    const char* op,
    const Tensor& weight,
    int64_t bits,
    const std::optional<Tensor>& min_max,
    bool optimized,
    int64_t bins,
    double ratio);
/// The numbers, in float32.
Tensor unfuse_rows(const char* op, const Tensor& fused, int64_t bits);

/// A range within that of `n` numbers whose codes of so many bits lose least, found by moving the end that costs less
/// by one of `bins` steps, while more than 1 - ratio of them are left.
std::pair<float, float> choose_range(const float* x, int64_t n, int64_t bins, double ratio, int64_t bits);

/// A table of 8 or 4 bits: "quantized.EmbeddingPackedParamsBase".
class TORCH_API EmbeddingPackedParams : public torch::CustomClassHolder {
 public:
  /// (version, tensors, numbers, integers), as archives have it.
  using State = std::tuple<int64_t, std::vector<Tensor>, std::vector<double>, std::vector<int64_t>>;

  /// `weight` is a matrix of quint8 or quint4x2 with a floating scale and zero point for each row. Throws otherwise.
  explicit EmbeddingPackedParams(const Tensor& weight);

  Tensor unpack() const;
  int64_t bits() const {
    return rows_->bits;
  }
  State state() const {
    return {1, {unpack()}, {}, {bits()}};
  }
  /// Rows of `indices`, of any sizes.
  Tensor embedding(const char* op, const Tensor& indices) const;
  Tensor embedding_bag(const char* op, const Tensor& indices, const BagOptions& options) const;

 private:
  Tensor scales_, zero_points_;
  int64_t columns_;
  std::optional<FusedRows> rows_;
};

} // namespace at::quantized
