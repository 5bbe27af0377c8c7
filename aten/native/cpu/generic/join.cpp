// cat and repeat_interleave: moving whole runs of elements.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/index_rows.h>
#include <aten/native/support/index_support.h>
#include <aten/native/support/streamed.h>
#include <aten/native/support/view_support.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/SmallVector.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace at::native {

namespace {

constexpr int64_t kJoinedBytesPerThread = 1 << 18;
constexpr int64_t kLongCopy = 2048;

/// to[i * count + k] = from[k][i] for i in [begin, end).
template <class T>
void interleave(const char* const* from, int64_t count, int64_t begin, int64_t end, char* out) {
  T* to = reinterpret_cast<T*>(out);
  if (count == 2) {
    const T *first = reinterpret_cast<const T*>(from[0]), *second = reinterpret_cast<const T*>(from[1]);
    for (int64_t i = begin; i < end; ++i) {
      to[2 * i] = first[i];
      to[2 * i + 1] = second[i];
    }
    return;
  }
  constexpr int64_t kBlock = 256; // so many elements of each before the next, for the lines of the result to stay
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t stop = std::min(end, start + kBlock);
    for (int64_t k = 0; k < count; ++k) {
      const T* source = reinterpret_cast<const T*>(from[k]);
      for (int64_t i = start; i < stop; ++i) {
        to[i * count + k] = source[i];
      }
    }
  }
}

/// cat where everything is contiguous: each input gives one run of bytes for every index of the dimensions before
/// `dim`. The result is cut anywhere for threads, and written from its beginning to its end.
void join_runs(TensorList tensors, int64_t dim, const TensorBase& out) {
  const IntArrayRef sizes = out.sizes();
  const int64_t outer = std::accumulate(sizes.begin(), sizes.begin() + dim, int64_t{1}, std::multiplies<>());
  const auto bytes = static_cast<int64_t>(out.nbytes());
  const int64_t row = bytes / outer;
  char* to = static_cast<char*>(out.mutable_data_ptr());
  struct Part {
    const char* from;
    int64_t run;
  };
  c10::SmallVector<Part, 8> parts;
  for (const Tensor& t : tensors) {
    if (const auto run = static_cast<int64_t>(t.nbytes()) / outer; run != 0) {
      parts.push_back({static_cast<const char*>(t.const_data_ptr()), run});
    }
  }
  const auto word = static_cast<int64_t>(out.itemsize());
  if (word <= 8 && std::all_of(parts.begin(), parts.end(), [&](const Part& part) { return part.run == word; })) {
    c10::SmallVector<const char*, 8> from;
    for (const Part& part : parts) {
      from.push_back(part.from);
    }
    at::parallel_for(0, outer, std::max<int64_t>(1, kJoinedBytesPerThread / row), [&](int64_t begin, int64_t end) {
      by_element_size(static_cast<size_t>(word), [&](auto element) {
        interleave<decltype(element)>(from.data(), static_cast<int64_t>(from.size()), begin, end, to);
      });
    });
    return;
  }
  const bool streamed = bytes >= kStreamedBytes;
  at::parallel_for(0, bytes, kJoinedBytesPerThread, [&](int64_t begin, int64_t end) {
    const ResultStream stream(streamed);
    for (int64_t i = begin / row, place = i * row; place < end; ++i) {
      for (const auto& [from, run] : parts) {
        const int64_t first = std::max(begin, place), last = std::min(end, place + run);
        if (first < last) {
          const char* source = from + i * run + (first - place);
          if (last - first < kLongCopy) {
            std::memcpy(to + first, source, last - first);
          } else if (streamed) {
            ResultStream::write(to + first, source, last - first);
          } else {
            copy_block(to + first, source, last - first);
          }
        }
        place += run;
      }
    }
  });
}

} // namespace

void cat_kernel(TensorList tensors, int64_t dim, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, out.dim());
  const bool plain = out.is_contiguous() && std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
                       return t.is_contiguous() && t.scalar_type() == out.scalar_type() && !t.is_conj() && !t.is_neg();
                     });
  if (plain) {
    return join_runs(tensors, dim, out);
  }
  const Tensor whole(out);
  int64_t start = 0;
  c10::DimVector sizes(out.sizes().begin(), out.sizes().end());
  for (const Tensor& t : tensors) {
    if (t.dim() == 1 && t.numel() == 0) {
      continue;
    }
    sizes[dim] = t.size(dim);
    Tensor part = make_view(whole, sizes, out.strides(), out.storage_offset() + start * out.stride(dim));
    start += sizes[dim];
    if (t.is_conj() || t.is_neg()) {
      part.copy_(t);
    } else {
      convert_tensor(part, t);
    }
  }
}

Tensor repeat_interleave_cpu(const Tensor& repeats, std::optional<int64_t> output_size) {
  TORCH_CHECK(
      repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat, got ", repeats.dim(), " dimensions");
  const Tensor dense = repeats.contiguous();
  Tensor result;
  dispatch("repeat_interleave_cpu", dense.scalar_type(), kIntegral, [&]<class T> {
    const T* counts = dense.const_data_ptr<T>();
    int64_t total = 0;
    for (int64_t i = 0; i < dense.numel(); ++i) {
      TORCH_CHECK(counts[i] >= 0, "repeats can not be negative, got ", counts[i], " at position ", i);
      TORCH_CHECK(
          !c10::add_overflows(total, int64_t{counts[i]}, &total), "repeat_interleave: the sum of repeats overflows");
    }
    TORCH_CHECK(
        !output_size || *output_size >= 0, "Trying to create tensor with negative dimension ", *output_size, ": [",
        *output_size, "] (in repeat_interleave)");
    TORCH_CHECK(
        !output_size || *output_size == total, "allocated size does not match required size: output_size ",
        output_size.value_or(0), " of repeat_interleave is not the sum of repeats, ", total);
    result = empty_contiguous({total}, dense.scalar_type(), kCPU);
    T* to = result.mutable_data_ptr<T>();
    for (int64_t i = 0; i < dense.numel(); ++i) {
      to = std::fill_n(to, counts[i], static_cast<T>(i));
    }
  });
  return result;
}

} // namespace at::native
