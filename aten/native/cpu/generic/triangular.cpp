// tril, triu and their index lists.
#include <aten/Parallel.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/index_support.h>
#include <aten/shape/factory.h>

#include <algorithm>

namespace at::native {
namespace {

/// out[..., row, col] = self[..., row, col] where `keep` holds, else 0.
void triangle(const TensorBase& self, int64_t diagonal, const TensorBase& out, bool lower) {
  if (out.numel() == 0) {
    return;
  }
  const int64_t rows = self.size(-2);
  const int64_t cols = self.size(-1);
  const int64_t batch = rows * cols == 0 ? 0 : self.numel() / (rows * cols);
  const int64_t ndim = self.dim();
  const auto offset_of = [&](const TensorBase& t, int64_t index) {
    int64_t offset = 0;
    for (int64_t d = ndim - 3; d >= 0; --d) {
      offset += index % self.size(d) * t.stride(d);
      index /= self.size(d);
    }
    return offset;
  };
  diagonal = std::clamp(diagonal, -rows - 1, cols + 1);
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* in = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    at::parallel_for(0, batch * rows, std::max<int64_t>(1, 32768 / std::max<int64_t>(cols, 1)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i % rows;
        const T* src = in + offset_of(self, i / rows) + row * self.stride(-2);
        T* dst = to + offset_of(out, i / rows) + row * out.stride(-2);
        const int64_t edge = std::clamp<int64_t>(lower ? row + diagonal + 1 : row + diagonal, 0, cols);
        if (self.stride(-1) == 1 && out.stride(-1) == 1) {
          const int64_t kept = lower ? 0 : edge, count = lower ? edge : cols - edge;
          if (src != dst) {
            std::copy_n(src + kept, count, dst + kept);
          }
          std::fill_n(dst + (lower ? edge : 0), cols - count, T{});
          continue;
        }
        for (int64_t col = 0; col < cols; ++col) {
          const bool keep = lower ? col < edge : col >= edge;
          dst[col * out.stride(-1)] = keep ? src[col * self.stride(-1)] : T{};
        }
      }
    });
  });
}

/// In place, without the check for elements that share memory: zeroing them twice is no harm.
Tensor& triangle_inplace(const char* op, Tensor& self, int64_t diagonal, bool lower) {
  at::shape::triangular(op, self, diagonal);
  if (self.is_cpu()) {
    triangle(self, diagonal, self, lower);
  } else if (!self.is_meta()) {
    self.copy_(lower ? self.tril(diagonal) : self.triu(diagonal));
  }
  return self;
}

/// Sum of min(t, most) over t = 1 ... last.
__int128 ramp_sum(__int128 last, __int128 most) {
  if (last <= 0) return 0;
  return last <= most ? last * (last + 1) / 2 : most * (most + 1) / 2 + (last - most) * most;
}

/// Row and column of each element of a triangle, row by row.
Tensor triangle_indices(
    const char* op, int64_t rows, int64_t cols, int64_t offset, std::optional<ScalarType> dtype, bool lower) {
  TORCH_CHECK(rows >= 0, "row must be non-negative, got", rows);
  TORCH_CHECK(cols >= 0, "col must be non-negative, got", cols);
  // Elements of row i that belong to the lower part end at min(i + edge, cols).
  const __int128 edge = static_cast<__int128>(offset) + (lower ? 1 : 0);
  const __int128 below = ramp_sum(edge + rows - 1, cols) - ramp_sum(edge - 1, cols);
  const __int128 elements = lower ? below : static_cast<__int128>(rows) * cols - below;
  TORCH_CHECK(
      elements <= INT64_MAX / 2, op, ": the number of elements of a triangle of ", rows, " rows and ", cols, " columns overflows");
  const auto count = static_cast<int64_t>(elements);
  const auto clamped = [](__int128 value, int64_t most) {
    return static_cast<int64_t>(std::clamp<__int128>(value, 0, most));
  };
  // Rows without elements are not visited: there may be any number of them.
  const int64_t first_row = lower ? clamped(1 - edge, rows) : 0;
  const int64_t end_row = count == 0 ? 0 : lower ? rows : clamped(cols - edge, rows);
  Tensor result = empty_contiguous({2, count}, dtype.value_or(kLong), kCPU);
  dispatch(op, result.scalar_type(), at::kIntegral | at::kFloating, [&]<class T> {
    T* row_of = result.mutable_data_ptr<T>();
    T* col_of = row_of + count;
    for (int64_t row = first_row; row < end_row; ++row) {
      const int64_t split = clamped(edge + row, cols);
      for (int64_t col = lower ? 0 : split; col < (lower ? split : cols); ++col) {
        *row_of++ = static_cast<T>(row);
        *col_of++ = static_cast<T>(col);
      }
    }
  });
  return result;
}

} // namespace

void tril_kernel(const TensorBase& self, int64_t diagonal, const TensorBase& out) {
  triangle(self, diagonal, out, /*lower=*/true);
}

void triu_kernel(const TensorBase& self, int64_t diagonal, const TensorBase& out) {
  triangle(self, diagonal, out, /*lower=*/false);
}

Tensor& tril_(Tensor& self, int64_t diagonal) {
  return triangle_inplace("tril_", self, diagonal, /*lower=*/true);
}

Tensor& triu_(Tensor& self, int64_t diagonal) {
  return triangle_inplace("triu_", self, diagonal, /*lower=*/false);
}

Tensor tril_indices_cpu(
    int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype, std::optional<Layout>,
    std::optional<Device>, std::optional<bool>) {
  return triangle_indices("tril_indices", row, col, offset, dtype, /*lower=*/true);
}

Tensor triu_indices_cpu(
    int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype, std::optional<Layout>,
    std::optional<Device>, std::optional<bool>) {
  return triangle_indices("triu_indices", row, col, offset, dtype, /*lower=*/false);
}

} // namespace at::native
