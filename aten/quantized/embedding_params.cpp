#include <aten/quantized/embedding_params.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace at::quantized {
namespace {

/// Scale and offset as they stand behind the codes of a row.
std::pair<float, float> read_factors(const uint8_t* at, int64_t bits) {
  if (bits == 8) {
    float both[2];
    std::memcpy(both, at, sizeof both);
    return {both[0], both[1]};
  }
  at::Half both[2];
  std::memcpy(both, at, sizeof both);
  return {both[0], both[1]};
}
void write_factors(uint8_t* at, int64_t bits, float scale, float offset) {
  if (bits == 8) {
    const float both[2] = {scale, offset};
    std::memcpy(at, both, sizeof both);
  } else {
    const at::Half both[2] = {scale, offset};
    std::memcpy(at, both, sizeof both);
  }
}

void write_code(uint8_t* row, int64_t column, int64_t bits, uint8_t code) {
  const int64_t in_byte = 8 / bits, shift = column % in_byte * bits;
  uint8_t& byte = row[column / in_byte];
  byte = static_cast<uint8_t>(shift == 0 ? code : byte | code << shift);
}

int64_t bytes_of_codes(int64_t columns, int64_t bits) {
  const int64_t in_byte = 8 / bits;
  return (columns + in_byte - 1) / in_byte;
}

struct RowCoding {
  float scale, inverse, offset;
};

/// Of 8 bits in float32; of fewer with a scale and an offset that are halves.
RowCoding coding_of(float least, float most, int64_t bits) {
  if (bits == 8) {
    const float range = most - least;
    return {range / 255.0f, 255.0f / (range + 1e-8f), least};
  }
  const float offset = static_cast<at::Half>(least), range = most - offset;
  const float steps = static_cast<float>((1 << bits) - 1);
  float scale = static_cast<at::Half>(range == 0 ? 1.0f : range / steps);
  float inverse = scale == 0 ? 1.0f : 1.0f / scale;
  if (scale == 0 || std::isinf(inverse)) {
    scale = inverse = 1;
  }
  return {scale, inverse, offset};
}

float code_for(float x, const RowCoding& coding, float most_code) {
  return std::max(0.0f, std::min(std::nearbyint((x - coding.offset) * coding.inverse), most_code));
}

float coding_loss(const float* x, int64_t n, float least, float most, int64_t bits) {
  const RowCoding coding = coding_of(least, most, bits);
  const float most_code = static_cast<float>((1 << bits) - 1);
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float error = x[i] - (code_for(x[i], coding, most_code) * coding.scale + coding.offset);
    sum += error * error;
  }
  return std::sqrt(sum);
}

template <class F>
void for_rows(int64_t rows, int64_t columns, const F& f) {
  at::parallel_for(0, rows, 1 + at::internal::GRAIN_SIZE / (columns + 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      f(row);
    }
  });
}

template <int Bits>
void add_codes(const uint8_t* codes, float scale, float offset, int64_t columns, float* out) {
  constexpr int64_t kInByte = 8 / Bits;
  for (int64_t j = 0; j < columns; ++j) {
    const int code = codes[j / kInByte] >> (j % kInByte * Bits) & ((1 << Bits) - 1);
    out[j] += scale * static_cast<float>(code) + offset;
  }
}

} // namespace

FusedRows::FusedRows(const char* op, const Tensor& fused, int64_t bits_) : memory(fused.contiguous()), bits(bits_) {
  TORCH_CHECK(
      fused.scalar_type() == kByte && fused.is_cpu() && fused.dim() >= 1 && fused.size(-1) >= factor_bytes(), op,
      ": expected rows of bytes on the CPU with a scale and an offset behind the codes, got ", fused.scalar_type(), " ",
      fused.sizes(), " on ", fused.device());
  data = memory.const_data_ptr<uint8_t>();
  row_bytes = fused.size(-1);
  rows = fused.numel() / row_bytes;
}

void FusedRows::add_row(int64_t row, float weight, int64_t n, float* out) const {
  const uint8_t* codes = data + row * row_bytes;
  auto [scale, offset] = read_factors(codes + row_bytes - factor_bytes(), bits);
  scale *= weight;
  offset *= weight;
  switch (bits) {
    case 8:
      return add_codes<8>(codes, scale, offset, n, out);
    case 4:
      return add_codes<4>(codes, scale, offset, n, out);
    default:
      return add_codes<2>(codes, scale, offset, n, out);
  }
}

Tensor sum_bags(
    const char* op, const FusedRows& table, int64_t columns, const Tensor& indices, const BagOptions& options) {
  const auto is_index = [](const Tensor& t) { return t.scalar_type() == kInt || t.scalar_type() == kLong; };
  TORCH_CHECK(
      is_index(indices) && (indices.dim() == 1 || indices.dim() == 2), op,
      ": expected 1 or 2 dimensional int32 or int64 indices, got ", indices.scalar_type(), " ", indices.sizes());
  const bool has_offsets = options.offsets.has_value() && options.offsets->defined();
  TORCH_CHECK(
      has_offsets == (indices.dim() == 1), op,
      ": offsets are needed with indices of 1 dimension, and not allowed with those of 2, got indices ",
      indices.sizes());
  const Tensor wanted = indices.to(kLong).contiguous();
  const int64_t count = wanted.numel();
  const Tensor offsets = has_offsets
      ? options.offsets->to(kLong).contiguous()
      : at::arange(0, count + (count == 0), std::max<int64_t>(1, indices.size(1)), kLong);
  TORCH_CHECK(offsets.dim() == 1, op, ": offsets should be 1 dimensional, got ", offsets.sizes());
  const bool last = options.include_last_offset && has_offsets;
  const int64_t bags = !has_offsets ? indices.size(0) : std::max<int64_t>(0, offsets.numel() - (last ? 1 : 0));
  Tensor weights, mapping;
  if (options.per_sample_weights.has_value() && options.per_sample_weights->defined()) {
    weights = options.per_sample_weights->to(kFloat).contiguous();
    TORCH_CHECK(
        weights.numel() == count, op, ": expected a weight for each of ", count, " indices, got ", weights.sizes());
  }
  if (options.compressed_indices_mapping.has_value() && options.compressed_indices_mapping->defined() &&
      options.compressed_indices_mapping->numel() > 1) {
    mapping = options.compressed_indices_mapping->to(kLong).contiguous();
  }
  const int64_t* index = wanted.const_data_ptr<int64_t>();
  const int64_t* starts = offsets.const_data_ptr<int64_t>();
  const Tensor out = at::zeros({bags, columns}, kFloat);
  float* const results = out.mutable_data_ptr<float>();
  const int64_t per_bag = bags == 0 ? 1 : columns * (count / bags + 1);
  for_rows(bags, per_bag, [&](int64_t bag) {
    const int64_t begin = starts[bag], end = bag + 1 < offsets.numel() ? starts[bag + 1] : count;
    TORCH_CHECK(
        begin >= 0 && begin <= end && end <= count, op, ": offsets must not decrease and lie between 0 and ", count,
        ", got ", begin, " and ", end);
    for (int64_t i = begin; i < end; ++i) {
      int64_t row = index[i];
      const int64_t limit = mapping.defined() ? mapping.numel() : table.rows;
      TORCH_CHECK(row >= 0 && row < limit, op, ": index ", row, " is out of range, there are ", limit, " rows");
      if (mapping.defined()) {
        row = mapping.const_data_ptr<int64_t>()[row];
        TORCH_CHECK(row < table.rows, op, ": compressed index ", row, " is out of range");
        if (row < 0) {
          continue; // pruned
        }
      }
      table.add_row(
          row, weights.defined() ? weights.const_data_ptr<float>()[i] : 1.0f, columns, results + bag * columns);
    }
  });
  return out;
}

std::pair<float, float> choose_range(const float* x, int64_t n, int64_t bins, double ratio, int64_t bits) {
  constexpr int64_t kMostBins = int64_t{1} << 24; // float32 tells no smaller steps of a range apart
  TORCH_CHECK(
      bins > 0 && bins <= kMostBins && ratio >= 0 && ratio <= 1, "a range that loses least is looked for in 1 to ",
      kMostBins, " bins, of which a ratio of 0 to 1 may be cut off, got ", bins, " and ", ratio);
  if (n == 0) {
    return {0.0f, 0.0f};
  }
  const auto [low, high] = std::minmax_element(x, x + n);
  float least = *low, most = *high;
  const float step = (most - least) / static_cast<float>(bins);
  const auto kept_bins = static_cast<int>(static_cast<double>(bins) * (1.0 - static_cast<float>(ratio)));
  const float kept = static_cast<float>(kept_bins) * step;
  float loss = coding_loss(x, n, least, most, bits);
  float left = least, right = most, here = loss;
  // Where a step is too small to move a limit, none is left to try.
  while (left + kept < right && left + step > left && right - step < right) {
    const float without_left = coding_loss(x, n, left + step, right, bits);
    const float without_right = coding_loss(x, n, left, right - step, bits);
    if (here < without_left && here < without_right && here < loss) {
      loss = here;
      least = left;
      most = right;
    }
    if (without_left < without_right) {
      left += step;
      here = without_left;
    } else {
      right -= step;
      here = without_right;
    }
  }
  return {least, most};
}

Tensor fuse_rows(
    const char* op,
    const Tensor& weight,
    int64_t bits,
    const std::optional<Tensor>& min_max,
    bool optimized,
    int64_t bins,
    double ratio) {
  TORCH_CHECK(
      weight.dim() >= 1 && weight.is_cpu() && (weight.scalar_type() == kFloat || weight.scalar_type() == kHalf), op,
      ": expected float32 or half weights on the CPU, got ", weight.scalar_type(), " on ", weight.device());
  const Tensor x = weight.to(kFloat).contiguous();
  const int64_t columns = x.size(-1), rows = columns == 0 ? 0 : x.numel() / columns;
  TORCH_CHECK(
      columns > 0 && columns % (8 / bits) == 0, op, ": the number of columns must be a positive multiple of ", 8 / bits,
      ", got weights ", weight.sizes());
  Tensor limits;
  if (min_max.has_value()) {
    limits = min_max->to(kFloat).contiguous();
    TORCH_CHECK(
        limits.numel() == 2 * rows, op, ": expected a smallest and a largest number for each row, got ",
        limits.sizes());
  }
  const int64_t code_bytes = bytes_of_codes(columns, bits), row_bytes = code_bytes + (bits == 8 ? 8 : 4);
  DimVector sizes(x.sizes());
  sizes.back() = row_bytes;
  const Tensor out = at::empty(sizes, kByte);
  const float* from = x.const_data_ptr<float>();
  uint8_t* const to = out.mutable_data_ptr<uint8_t>();
  const auto most_code = static_cast<float>((1 << bits) - 1);
  for_rows(rows, columns, [&](int64_t row) {
    const float* numbers = from + row * columns;
    float least, most;
    if (limits.defined()) {
      least = limits.const_data_ptr<float>()[2 * row];
      most = limits.const_data_ptr<float>()[2 * row + 1];
    } else if (optimized) {
      std::tie(least, most) = choose_range(numbers, columns, bins, ratio, bits);
    } else {
      const auto [low, high] = std::minmax_element(numbers, numbers + columns);
      least = *low;
      most = *high;
    }
    const RowCoding coding = coding_of(least, most, bits);
    uint8_t* codes = to + row * row_bytes;
    for (int64_t j = 0; j < columns; ++j) {
      write_code(codes, j, bits, static_cast<uint8_t>(code_for(numbers[j], coding, most_code)));
    }
    write_factors(codes + code_bytes, bits, coding.scale, coding.offset);
  });
  return out;
}

Tensor unfuse_rows(const char* op, const Tensor& fused, int64_t bits) {
  const FusedRows table(op, fused, bits);
  DimVector sizes(fused.sizes());
  const int64_t columns = table.columns();
  sizes.back() = columns;
  const Tensor out = at::zeros(sizes, kFloat);
  float* const to = out.mutable_data_ptr<float>();
  for_rows(table.rows, columns, [&](int64_t row) { table.add_row(row, 1.0f, columns, to + row * columns); });
  return out;
}

EmbeddingPackedParams::EmbeddingPackedParams(const Tensor& weight) {
  constexpr const char* kOp = "quantized::embedding_bag_prepack";
  TORCH_CHECK(
      weight.is_quantized() && weight.dim() == 2 &&
          (weight.scalar_type() == kQUInt8 || weight.scalar_type() == kQUInt4x2),
      kOp, ": expected a quantized matrix of quint8 or quint4x2, got ", weight.scalar_type(), " ", weight.sizes());
  const QuantizerPtr& q = get_quantizer(weight);
  TORCH_CHECK(
      q->scheme == c10::kPerChannelAffineFloatQParams && q->axis == 0, kOp,
      ": expected a floating scale and zero point for each row (per_channel_affine_float_qparams)");
  scales_ = q->scales.clone();
  zero_points_ = q->zero_points.clone();
  columns_ = weight.size(1);
  const int64_t rows = weight.size(0), bits = weight.scalar_type() == kQUInt8 ? 8 : 4;
  TORCH_CHECK(columns_ % (8 / bits) == 0, kOp, ": the number of columns must be even, got ", weight.sizes());
  const int64_t code_bytes = bytes_of_codes(columns_, bits), row_bytes = code_bytes + (bits == 8 ? 8 : 4);
  const Tensor fused = at::empty({rows, row_bytes}, kByte);
  fused.narrow(1, 0, code_bytes).copy_(integers_of(weight).contiguous().view({rows, code_bytes}));
  const Tensor offsets = scales_ * zero_points_ * -1.0;
  uint8_t* const to = fused.mutable_data_ptr<uint8_t>();
  for (int64_t row = 0; row < rows; ++row) {
    write_factors(
        to + row * row_bytes + code_bytes, bits, scales_.const_data_ptr<float>()[row],
        offsets.const_data_ptr<float>()[row]);
  }
  rows_.emplace(kOp, fused, bits);
}

Tensor EmbeddingPackedParams::unpack() const {
  const Tensor codes = rows_->memory.narrow(1, 0, rows_->row_bytes - rows_->factor_bytes()).contiguous();
  const ScalarType dtype = rows_->bits == 8 ? kQUInt8 : kQUInt4x2;
  const QuantizerPtr quantizer = Quantizer::per_channel(scales_, zero_points_, 0, dtype);
  return rows_->bits == 8 ? make_quantized(codes, quantizer)
                          : make_quantized_packed(codes.view({-1}), {rows_->rows, columns_}, quantizer);
}

Tensor EmbeddingPackedParams::embedding(const char* op, const Tensor& indices) const {
  const Tensor flat = indices.reshape({-1});
  BagOptions options;
  options.offsets = at::arange(flat.numel(), kLong);
  DimVector sizes(indices.sizes());
  sizes.push_back(columns_);
  return sum_bags(op, *rows_, columns_, flat, options).view(sizes);
}

Tensor EmbeddingPackedParams::embedding_bag(const char* op, const Tensor& indices, const BagOptions& options) const {
  return sum_bags(op, *rows_, columns_, indices, options);
}

} // namespace at::quantized
