// Padding with what is inside: each position of the padded tensor shows one position of the input, dimension by
// dimension.
#include <aten/core/OpMathType.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/support/index_support.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace at::native {
namespace {

using Indices = std::vector<int64_t>;

/// Where a padded dimension takes its elements from.
Indices source_indices(int64_t size, int64_t before, int64_t padded_size, bool reflects) {
  Indices indices(padded_size);
  for (int64_t j = 0; j < padded_size; ++j) {
    const int64_t i = j - before;
    if (reflects) {
      indices[j] = i < 0 ? -i : i < size ? i : 2 * (size - 1) - i;
    } else {
      indices[j] = std::clamp<int64_t>(i, 0, size - 1);
    }
  }
  return indices;
}

/// A padding seen as [outer, depth, height, width]: missing padded dimensions have size 1, batch and channels are
/// outer.
struct Frame {
  std::array<Indices, 3> indices;
  std::array<int64_t, 3> size{1, 1, 1}, padded{1, 1, 1};
  std::array<int64_t, 3> inside{0, 0, 0}, outside{0, 0, 0}; // strides of the unpadded and the padded tensor
  int64_t batch = 1, channels = 1;
  int64_t inside_batch = 0, inside_channel = 0, outside_batch = 0, outside_channel = 0;
  int64_t run_begin = 0, run = 0; // the middle of a row, where indices follow each other

  Frame(const TensorBase& small, const TensorBase& large, IntArrayRef padding, bool reflects) {
    const auto n = static_cast<int64_t>(padding.size() / 2);
    const int64_t ndim = small.dim();
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t dim = ndim - 3 + k;
      if (k < 3 - n) {
        indices[k] = {0};
        continue;
      }
      size[k] = small.size(dim);
      padded[k] = large.size(dim);
      inside[k] = small.stride(dim);
      outside[k] = large.stride(dim);
      indices[k] = source_indices(size[k], padding[2 * (2 - k)], padded[k], reflects);
    }
    const Indices& last = indices[2];
    const auto follows = [&](int64_t j) { return j + 1 < padded[2] && last[j + 1] == last[j] + 1; };
    while (run_begin < padded[2] && !follows(run_begin)) {
      ++run_begin;
    }
    if (run_begin < padded[2]) {
      for (run = 1; follows(run_begin + run - 1); ++run) {
      }
    }
    const int64_t channel = ndim - n - 1;
    channels = small.size(channel);
    inside_channel = small.stride(channel);
    outside_channel = large.stride(channel);
    if (channel > 0) {
      batch = small.size(0);
      inside_batch = small.stride(0);
      outside_batch = large.stride(0);
    }
  }

  int64_t planes() const {
    return batch * channels;
  }
  int64_t inside_offset(int64_t plane) const {
    return plane / channels * inside_batch + plane % channels * inside_channel;
  }
  int64_t outside_offset(int64_t plane) const {
    return plane / channels * outside_batch + plane % channels * outside_channel;
  }
};

/// One row of the padded tensor. Its middle is moved in one go.
template <class T>
void fill_row(const Frame& f, const T* from, T* to) {
  const int64_t* const indices = f.indices[2].data();
  const int64_t width = f.padded[2], to_step = f.outside[2], from_step = f.inside[2];
  const auto fill = [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      to[j * to_step] = from[indices[j] * from_step];
    }
  };
  if (to_step == 1 && from_step == 1 && f.run > 0) {
    fill(0, f.run_begin);
    std::memcpy(to + f.run_begin, from + indices[f.run_begin], static_cast<size_t>(f.run) * sizeof(T));
    fill(f.run_begin + f.run, width);
    return;
  }
  fill(0, width);
}

template <class T>
void pad_planes(const Frame& f, const T* from, T* to) {
  const int64_t rows = f.padded[0] * f.padded[1];
  const int64_t grain = std::max<int64_t>(1, at::internal::GRAIN_SIZE / std::max<int64_t>(f.padded[2], 1));
  at::parallel_for(0, f.planes() * rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plane = i / rows;
      const int64_t z = i % rows / f.padded[1];
      const int64_t y = i % f.padded[1];
      fill_row(
          f, from + f.inside_offset(plane) + f.indices[0][z] * f.inside[0] + f.indices[1][y] * f.inside[1],
          to + f.outside_offset(plane) + z * f.outside[0] + y * f.outside[1]);
    }
  });
}

/// Channels last: all channels of a position lie together.
template <class T>
void pad_positions(const Frame& f, const T* from, T* to) {
  const int64_t rows = f.padded[0] * f.padded[1];
  const int64_t grain = std::max<int64_t>(1, at::internal::GRAIN_SIZE / std::max<int64_t>(f.padded[2] * f.channels, 1));
  at::parallel_for(0, f.batch * rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t z = i % rows / f.padded[1];
      const int64_t y = i % f.padded[1];
      const T* row = from + i / rows * f.inside_batch + f.indices[0][z] * f.inside[0] + f.indices[1][y] * f.inside[1];
      T* out = to + i / rows * f.outside_batch + z * f.outside[0] + y * f.outside[1];
      for (int64_t x = 0; x < f.padded[2]; ++x) {
        std::memcpy(out + x * f.outside[2], row + f.indices[2][x] * f.inside[2], f.channels * sizeof(T));
      }
    }
  });
}

void pad_forward(const TensorBase& self, IntArrayRef padding, const TensorBase& out, bool reflects) {
  if (out.numel() == 0) {
    return;
  }
  const Frame frame(self, out, padding, reflects);
  const bool channels_last = frame.channels > 1 && frame.inside_channel == 1 && frame.outside_channel == 1;
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    channels_last ? pad_positions(frame, from, to) : pad_planes(frame, from, to);
  });
}

void pad_backward(
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef padding,
    const TensorBase& grad_input,
    bool reflects) {
  if (grad_input.numel() == 0) { // an empty batch: the padding may be of any size
    return;
  }
  const std::string op =
      std::string(reflects ? "reflection_pad" : "replication_pad") + std::to_string(padding.size() / 2) + "d_backward";
  const Frame f(grad_input, grad_output, padding, reflects);
  dispatch(op.c_str(), self.scalar_type(), kFloating | kComplex, [&]<class T> {
    using R = at::opmath_type<T>;
    const T* from = grad_output.const_data_ptr<T>();
    T* to = grad_input.mutable_data_ptr<T>();
    const int64_t plane_numel = f.size[0] * f.size[1] * f.size[2];
    const int64_t grain = std::max<int64_t>(1, at::internal::GRAIN_SIZE / std::max<int64_t>(plane_numel, 1));
    at::parallel_for(0, f.planes(), grain, [&](int64_t begin, int64_t end) {
      std::vector<R> sums(plane_numel);
      for (int64_t plane = begin; plane < end; ++plane) {
        std::fill(sums.begin(), sums.end(), R(0));
        const T* grad = from + f.outside_offset(plane);
        for (int64_t z = 0; z < f.padded[0]; ++z) {
          for (int64_t y = 0; y < f.padded[1]; ++y) {
            R* row = sums.data() + (f.indices[0][z] * f.size[1] + f.indices[1][y]) * f.size[2];
            const T* grad_row = grad + z * f.outside[0] + y * f.outside[1];
            for (int64_t x = 0; x < f.padded[2]; ++x) {
              row[f.indices[2][x]] += static_cast<R>(grad_row[x * f.outside[2]]);
            }
          }
        }
        T* result = to + f.inside_offset(plane);
        const R* sum = sums.data();
        for (int64_t z = 0; z < f.size[0]; ++z) {
          for (int64_t y = 0; y < f.size[1]; ++y) {
            for (int64_t x = 0; x < f.size[2]; ++x) {
              result[z * f.inside[0] + y * f.inside[1] + x * f.inside[2]] = static_cast<T>(*sum++);
            }
          }
        }
      }
    });
  });
}

} // namespace

void reflection_pad_kernel(const TensorBase& self, IntArrayRef padding, const TensorBase& out) {
  pad_forward(self, padding, out, /*reflects=*/true);
}

void replication_pad_kernel(const TensorBase& self, IntArrayRef padding, const TensorBase& out) {
  pad_forward(self, padding, out, /*reflects=*/false);
}

void reflection_pad_backward_kernel(
    const TensorBase& grad_output, const TensorBase& self, IntArrayRef padding, const TensorBase& grad_input) {
  pad_backward(grad_output, self, padding, grad_input, /*reflects=*/true);
}

void replication_pad_backward_kernel(
    const TensorBase& grad_output, const TensorBase& self, IntArrayRef padding, const TensorBase& grad_input) {
  pad_backward(grad_output, self, padding, grad_input, /*reflects=*/false);
}

} // namespace at::native
