// Rows of a table by index, and the sum of gradients back into the table.

#include <aten/parallel/Parallel.h>
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/core/OpMathType.h>
#include <aten/native/support/index_rows.h>

#include <algorithm>
#include <vector>

namespace at::native {
namespace {

constexpr auto kIndexDtypes = dtype_set<c10::ScalarType::Int, c10::ScalarType::Long>;

/// Throws IndexError unless all indices name rows of the table.
template <class I>
void check_indices(const I* indices, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i) {
    TORCH_CHECK_INDEX(
        indices[i] >= 0 && indices[i] < rows, "index out of range in self: embedding got index ",
        static_cast<int64_t>(indices[i]), " at position ", i, " for a table of ", rows, " rows");
  }
}

} // namespace

void embedding_kernel(const TensorBase& weight, const TensorBase& indices, int64_t, bool, bool, const TensorBase& out) {
  const TensorBase table = weight.contiguous(), places = indices.contiguous();
  const int64_t rows = weight.size(0), row_bytes = weight.size(1) * static_cast<int64_t>(weight.itemsize());
  const int64_t count = indices.numel();
  dispatch("embedding", indices.scalar_type(), kIndexDtypes, [&]<class I> {
    const I* index = places.const_data_ptr<I>();
    check_indices(index, count, rows);
    if (row_bytes == 0 || count == 0) {
      return;
    }
    const char* from = static_cast<const char*>(table.const_data_ptr());
    char* to = static_cast<char*>(out.mutable_data_ptr());
    at::parallel_for(0, count, std::max<int64_t>(1, 65536 / row_bytes), [&](int64_t begin, int64_t end) {
      copy_rows(from, index, begin, end, row_bytes, to);
    });
  });
}

void embedding_dense_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& indices,
    int64_t num_weights,
    int64_t padding_idx,
    bool scale_grad_by_freq,
    const TensorBase& out) {
  const TensorBase grad = grad_output.contiguous(), places = indices.contiguous();
  const int64_t count = indices.numel(), width = out.size(1);
  dispatch("embedding_dense_backward_cpu", indices.scalar_type(), kIndexDtypes, [&]<class I> {
    const I* index = places.const_data_ptr<I>();
    for (int64_t i = 0; i < count; ++i) {
      TORCH_CHECK_INDEX(
          index[i] == padding_idx || (index[i] >= 0 && index[i] < num_weights),
          "index out of range in self: embedding_dense_backward got index ", static_cast<int64_t>(index[i]),
          " for a table of ", num_weights, " rows");
    }
    std::vector<int64_t> uses;
    if (scale_grad_by_freq) {
      uses.resize(num_weights, 0);
      for (int64_t i = 0; i < count; ++i) {
        if (index[i] != padding_idx) {
          ++uses[index[i]];
        }
      }
    }
    dispatch("embedding_dense_backward_cpu", grad.scalar_type(), kAll | kComplexHalves, [&]<class T> {
      using R = at::opmath_type<T>;
      const T* g = grad.const_data_ptr<T>();
      T* table = out.mutable_data_ptr<T>();
      AddRow* const add_row = add_row_of(grad.scalar_type(), /*scaled=*/false);
      // Each thread owns a range of rows and looks for its own among all indices: no two write to one row.
      const int64_t work = count * width + num_weights * width;
      const int64_t parts = std::clamp<int64_t>(work / 32768, 1, at::get_num_threads());
      at::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
        for (int64_t part = first; part < last; ++part) {
          const int64_t low = num_weights * part / parts, high = num_weights * (part + 1) / parts;
          std::fill(table + low * width, table + high * width, T{});
          for (int64_t i = 0; i < count; ++i) {
            const int64_t row = index[i];
            if (row == padding_idx || row < low || row >= high) {
              continue;
            }
            T* to = table + row * width;
            const T* from = g + i * width;
            if (!scale_grad_by_freq) {
              add_row(to, from, width, nullptr);
              continue;
            }
            const R scale = R(1) / static_cast<R>(static_cast<float>(uses[row]));
            for (int64_t j = 0; j < width; ++j) {
              to[j] = static_cast<T>(static_cast<R>(to[j]) + static_cast<R>(from[j]) * scale);
            }
          }
        }
      });
    });
  });
}

} // namespace at::native
