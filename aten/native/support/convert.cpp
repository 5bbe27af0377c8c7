#include <aten/native/support/convert.h>

#include <aten/core/TensorBase.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/support/cpu_isa.h>
#include <aten/native/support/streamed.h>
#include <aten/native/support/transposed_copy.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace at::native {

namespace v2 {
void convert_loop(c10::ScalarType, void*, std::int64_t, c10::ScalarType, const void*, std::int64_t, std::int64_t);
}
namespace v3 {
void convert_loop(c10::ScalarType, void*, std::int64_t, c10::ScalarType, const void*, std::int64_t, std::int64_t);
}
namespace v4 {
void convert_loop(c10::ScalarType, void*, std::int64_t, c10::ScalarType, const void*, std::int64_t, std::int64_t);
}

void convert_elements(
    c10::ScalarType dst_dtype,
    void* dst,
    std::int64_t dst_stride,
    c10::ScalarType src_dtype,
    const void* src,
    std::int64_t src_stride,
    std::int64_t n) {
  static constexpr decltype(&v2::convert_loop) kLoops[] = {v2::convert_loop, v3::convert_loop, v4::convert_loop};
  kLoops[cpu_isa_level()](dst_dtype, dst, dst_stride, src_dtype, src, src_stride, n);
}

namespace {

// Whether the elements of both lie one after the other, in the same order.
bool one_run(const TensorBase& dst, const TensorBase& src) {
  return dst.sizes() == src.sizes() &&
      ((dst.is_contiguous() && src.is_contiguous()) ||
       (dst.is_non_overlapping_and_dense() && dst.strides() == src.strides()));
}

} // namespace

void convert_tensor(const TensorBase& dst, const TensorBase& src) {
  if (one_run(dst, src)) {
    const c10::ScalarType to = dst.scalar_type();
    const c10::ScalarType from = src.scalar_type();
    const auto to_size = static_cast<std::int64_t>(dst.element_size());
    const auto from_size = static_cast<std::int64_t>(src.element_size());
    char* const out = static_cast<char*>(dst.mutable_data_ptr());
    const char* const in = static_cast<const char*>(src.const_data_ptr());
    const bool streamed = dst.numel() * to_size >= kStreamedBytes && out != in;
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      if (streamed) {
        const ResultStream stream;
        ResultStream::write_computed(
            out + begin * to_size, end - begin, to_size, from_size,
            [&](char* block, std::int64_t first, std::int64_t n) {
              const char* source = in + (begin + first) * from_size;
              ResultStream::prefetch_ahead(source, n * from_size);
              convert_elements(to, block, to_size, from, source, from_size, n);
            });
        return;
      }
      convert_elements(to, out + begin * to_size, to_size, from, in + begin * from_size, from_size, end - begin);
    };
    if (dst.numel() > at::internal::GRAIN_SIZE) {
      at::parallel_for(0, dst.numel(), at::internal::GRAIN_SIZE, part);
    } else if (dst.numel() != 0) {
      part(0, dst.numel());
    }
    return;
  }
  auto iter = TensorIteratorConfig()
                  .set_check_mem_overlap(false)
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(dst)
                  .add_const_input(src)
                  .build();
  if (copy_transposed(iter)) {
    return;
  }
  const c10::ScalarType to = dst.scalar_type();
  const c10::ScalarType from = src.scalar_type();
  const auto size = static_cast<std::int64_t>(dst.element_size());
  // Bools that a view has made of other numbers are to become 0 or 1.
  const bool copies_bytes = to == from && to != c10::ScalarType::Bool;
  iter.for_each([=](char** data, const std::int64_t* strides, std::int64_t n, std::int64_t rows) {
    // Rows of few bytes are not worth a call each. Short rows go side by side, some hundreds at a time, which stay in
    // the cache until all their elements are written.
    constexpr std::int64_t kFewBytes = 16, kShort = 16, kBlock = 512;
    const bool by_bytes = copies_bytes && strides[0] == size && strides[1] == size && n * size >= kFewBytes;
    const bool by_columns = !by_bytes && n < kShort && rows >= kShort;
    const std::int64_t step = by_columns ? kBlock : 1;
    for (std::int64_t row = 0; row < rows; row += step) {
      char* const out = data[0] + row * strides[2];
      const char* const in = data[1] + row * strides[3];
      if (by_bytes) {
        std::memmove(out, in, static_cast<std::size_t>(n * size));
      } else if (by_columns) {
        for (std::int64_t i = 0; i < n; ++i) {
          convert_elements(
              to, out + i * strides[0], strides[2], from, in + i * strides[1], strides[3],
              std::min(kBlock, rows - row));
        }
      } else {
        convert_elements(to, out, strides[0], from, in, strides[1], n);
      }
    }
  });
}

bool has_strides_of_new(const TensorBase& tensor) {
  const c10::IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  uint64_t expected = 1; // that of a tensor without elements may wrap
  for (size_t d = sizes.size(); d-- > 0;) {
    if (static_cast<uint64_t>(strides[d]) != expected) {
      return false;
    }
    expected *= static_cast<uint64_t>(std::max<int64_t>(sizes[d], 1));
  }
  return true;
}

c10::DimVector dense_strides_like(c10::IntArrayRef sizes, c10::IntArrayRef strides, bool already_dense) {
  if (already_dense) {
    return c10::DimVector(strides.begin(), strides.end());
  }
  const int n = static_cast<int>(sizes.size());
  c10::DimVector order(n);
  for (int i = 0; i < n; ++i) {
    order[i] = n - 1 - i;
  }
  const auto compare = [&](std::int64_t a, std::int64_t b) {
    if (strides[a] == 0 || strides[b] == 0) {
      return 0;
    }
    if (strides[a] != strides[b]) {
      return strides[a] < strides[b] ? -1 : 1;
    }
    return sizes[a] > sizes[b] ? 1 : 0;
  };
  // As in TensorIterator: repeated (stride 0) dimensions stay where they are.
  for (int i = 1; i < n; ++i) {
    int high = i;
    for (int low = i - 1; low >= 0; --low) {
      const int result = compare(order[low], order[high]);
      if (result > 0) {
        std::swap(order[low], order[high]);
        high = low;
      } else if (result < 0) {
        break;
      }
    }
  }
  c10::DimVector dense(n);
  std::int64_t next = 1;
  for (const std::int64_t dim : order) {
    dense[dim] = next;
    if (sizes[dim] > 1) {
      next *= sizes[dim];
    }
  }
  return dense;
}

} // namespace at::native
