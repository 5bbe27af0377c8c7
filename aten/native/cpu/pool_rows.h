#pragma once
// What kernels of pooling share: where windows lie, and how their rows, planes and pixels are gone through.

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/support/pool_windows.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {

template <class T>
using Core = at::opmath_type<T>;

template <class T>
inline constexpr bool kIsReal = !std::is_integral_v<T>;

/// Numbers an index beside a value of type T: as wide, so that both are picked by one mask.
template <class T>
using Place = std::conditional_t<sizeof(Core<T>) == 8, int64_t, int32_t>;

inline constexpr int64_t kGrain = 16384;

template <class T>
void store_row(const Core<T>* from, T* to, int64_t n) {
  if constexpr (kIsReal<T>) {
    for_lanes<T>(n, [&](int64_t i, auto run) { store_run<T>(load_run<Core<T>>(from + i, run), to + i, run); });
  } else {
    std::copy(from, from + n, to);
  }
}

struct PoolLayout {
  bool channels_last = false;
  int64_t batch = 1, channels = 1;
  c10::MemoryFormat format = c10::MemoryFormat::Contiguous;

  PoolLayout(const TensorBase& self, int64_t dims) {
    const int64_t rank = self.dim();
    batch = rank == dims + 2 ? self.size(0) : 1;
    channels = self.size(rank - dims - 1);
    // Without a batch the channels come first: what looks like channels-last in four dimensions is something else.
    if (rank == dims + 2) {
      format = self.suggest_memory_format();
    }
    channels_last = format != c10::MemoryFormat::Contiguous;
  }
  int64_t planes() const {
    return batch * channels;
  }
};

inline int64_t at_or_only(IntArrayRef values, int64_t d) {
  return values.size() == 1 ? values[0] : values[d];
}

/// Windows along a dimension of the result: none if it has no elements, however long the dimension is.
inline int64_t window_count(const TensorBase& result, int64_t d) {
  return result.numel() == 0 ? 0 : result.size(d);
}

inline PoolWindows fixed_windows(
    const TensorBase& self,
    const TensorBase& result,
    int64_t dims,
    IntArrayRef kernel,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation) {
  PoolWindows w;
  for (int64_t d = 0; d < dims; ++d) {
    w.dim[3 - dims + d] = PoolDim::fixed(
        self.size(self.dim() - dims + d), window_count(result, result.dim() - dims + d), at_or_only(kernel, d),
        at_or_only(stride.empty() ? kernel : stride, d), at_or_only(padding, d), at_or_only(dilation, d));
  }
  return w;
}

inline PoolWindows adaptive_windows(const TensorBase& self, const TensorBase& result, int64_t dims) {
  PoolWindows w;
  for (int64_t d = 0; d < dims; ++d) {
    w.dim[3 - dims + d] =
        PoolDim::adaptive(self.size(self.dim() - dims + d), window_count(result, result.dim() - dims + d));
  }
  return w;
}

/// Calls f(row offset) for the input rows under windows (d, h) of depth and height.
template <class F>
void for_rows(const PoolWindows& w, int64_t d, int64_t h, const F& f) {
  for (int64_t i = w.dim[0].begin[d]; i < w.dim[0].end[d]; i += w.dim[0].step) {
    for (int64_t j = w.dim[1].begin[h]; j < w.dim[1].end[h]; j += w.dim[1].step) {
      f((i * w.dim[1].in + j) * w.dim[2].in);
    }
  }
}

/// Calls f(row of windows d, h) for all rows of the result.
template <class F>
void for_result_rows(const PoolWindows& w, const F& f) {
  for (int64_t d = 0; d < w.dim[0].out; ++d) {
    for (int64_t h = 0; h < w.dim[1].out; ++h) {
      f(d, h, (d * w.dim[1].out + h) * w.dim[2].out);
    }
  }
}

template <class F>
void for_planes(int64_t planes, const PoolWindows& w, const F& f) {
  const int64_t work = std::max<int64_t>(1, w.in_size() + w.out_size());
  at::parallel_for(0, planes, std::max<int64_t>(1, kGrain / work), f);
}

/// Calls f(image, d, h, o, number, scratch) for pixels of results in a channels-last layout.
template <class F>
void for_pixels(const PoolLayout& layout, const PoolWindows& w, const F& f) {
  const int64_t pixels = w.out_size(), grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, layout.channels * 8));
  at::parallel_for(0, layout.batch * pixels, grain, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> scratch;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i % w.dim[2].out, row = i % pixels / w.dim[2].out;
      f(i / pixels, row / w.dim[1].out, row % w.dim[1].out, o, i, scratch);
    }
  });
}

/// Pixels under the window of a pixel of the result.
inline void window_pixels(const PoolWindows& w, int64_t d, int64_t h, int64_t o, std::vector<int64_t>& pixels) {
  pixels.clear();
  for_rows(w, d, h, [&](int64_t offset) {
    for (int64_t i = w.dim[2].begin[o]; i < w.dim[2].end[o]; i += w.dim[2].step) {
      pixels.push_back(offset + i);
    }
  });
}

/// Tensors of a pass in one layout; `result` is written and copied to where the caller wants it.
class PoolResult {
 public:
  PoolResult(const TensorBase& wanted, c10::MemoryFormat format, c10::ScalarType dtype) : wanted_(wanted) {
    if (wanted.scalar_type() == dtype && wanted.is_contiguous(format)) {
      used_ = wanted;
      return;
    }
    TensorSpec spec = TensorSpec::like(wanted, wanted.sizes(), dtype);
    spec.memory_format = format;
    used_ = at::empty_spec(spec);
  }
  const TensorBase& tensor() const {
    return used_;
  }
  void finish() const {
    if (!used_.is_same(wanted_)) {
      Tensor(wanted_).copy_(Tensor(used_));
    }
  }

 private:
  TensorBase wanted_, used_;
};

/// Runs f(image, first channel, last channel) over images, and over parts of the channels when images are few.
template <class F>
void for_channel_parts(const PoolLayout& layout, const F& f) {
  const int64_t parts = layout.batch >= at::get_num_threads()
      ? 1
      : std::min<int64_t>(at::get_num_threads(), std::max<int64_t>(1, layout.channels / 16));
  at::parallel_for(0, layout.batch * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      f(i / parts, layout.channels * (i % parts) / parts, layout.channels * (i % parts + 1) / parts);
    }
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
