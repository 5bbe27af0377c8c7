// Products with an int8 matrix that lies row by row, not packed.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/cpu/packed_lines.h>
#include <aten/parallel/Parallel.h>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {
namespace packed_plain {

using namespace packed;

/// Dot products of a row of int8 numbers with M rows, `x_row` apart.
template <int M>
VEC_INLINE void dot_rows(int64_t n, const int8_t* w, const float* x, int64_t x_row, float* results) {
  VecFloat sums[M];
  unrolled<M>([&](auto m) __attribute__((always_inline)) { sums[m] = VecFloat(0.0f); });
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    const VecFloat codes = vec::convert<float>(vec::convert<int32_t>(vec::Vec<int8_t, kLanes>::load(w + k)));
    unrolled<M>([&](auto m) __attribute__((always_inline)) { sums[m] += codes * VecFloat::load(x + m * x_row + k); });
  }
  unrolled<M>([&](auto m) __attribute__((always_inline)) {
    float sum = vec::reduce_add(sums[m]);
    for (int64_t i = k; i < n; ++i) {
      sum += static_cast<float>(w[i]) * x[m * x_row + i];
    }
    results[m] = sum;
  });
}

} // namespace packed_plain
} // namespace

void weight_int8pack_mm_kernel(
    const TensorBase& self, const TensorBase& mat2, const TensorBase& scales, const TensorBase& out) {
  constexpr int kRows = 4;
  const Tensor rows = Tensor(self).to(kFloat).contiguous(), weight = Tensor(mat2).contiguous();
  const Tensor factors = Tensor(scales).to(kFloat).contiguous();
  const int64_t m = self.size(0), n = mat2.size(0), k = self.size(1);
  const Tensor sums = empty_contiguous({m, n}, kFloat, self.device());
  const float* x = rows.const_data_ptr<float>();
  const float* scale = factors.const_data_ptr<float>();
  const int8_t* w = weight.const_data_ptr<int8_t>();
  float* to = sums.mutable_data_ptr<float>();
  at::parallel_for(0, n, 1 + (1 << 15) / (m * k + 1), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      float results[kRows];
      int64_t i = 0;
      for (; i + kRows <= m; i += kRows) {
        packed_plain::dot_rows<kRows>(k, w + j * k, x + i * k, k, results);
        for (int r = 0; r < kRows; ++r) {
          to[(i + r) * n + j] = results[r] * scale[j];
        }
      }
      for (; i < m; ++i) {
        packed_plain::dot_rows<1>(k, w + j * k, x + i * k, k, results);
        to[i * n + j] = results[0] * scale[j];
      }
    }
  });
  Tensor(out).copy_(sums);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
