// tril, triu and their index lists.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/support/index_support.h>
#include <aten/native/support/triangle_indices.h>
#include <aten/parallel/Parallel.h>
#include <aten/shape/functions.h>

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
    at::parallel_for(
        0, batch * rows, std::max<int64_t>(1, 32768 / std::max<int64_t>(cols, 1)), [&](int64_t begin, int64_t end) {
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

/// Row and column of each element of a triangle, row by row.
Tensor triangle_indices(
    const char* op, int64_t rows, int64_t cols, int64_t offset, std::optional<ScalarType> dtype, bool lower) {
  const TriangleIndices triangle = TriangleIndices::checked(op, rows, cols, offset, lower);
  Tensor result = empty_contiguous({2, triangle.count}, dtype.value_or(kLong), kCPU);
  dispatch(op, result.scalar_type(), at::kIntegral | at::kFloating, [&]<class T> {
    T* row_of = result.mutable_data_ptr<T>();
    T* col_of = row_of + triangle.count;
    for (int64_t row = triangle.first_row; row < triangle.end_row; ++row) {
      for (int64_t col = triangle.first_col(row); col < triangle.end_col(row); ++col) {
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
    int64_t row,
    int64_t col,
    int64_t offset,
    std::optional<ScalarType> dtype,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>) {
  return triangle_indices("tril_indices", row, col, offset, dtype, /*lower=*/true);
}

Tensor triu_indices_cpu(
    int64_t row,
    int64_t col,
    int64_t offset,
    std::optional<ScalarType> dtype,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>) {
  return triangle_indices("triu_indices", row, col, offset, dtype, /*lower=*/false);
}

} // namespace at::native
