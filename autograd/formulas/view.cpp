// Gradients of views, and of operators that concatenate or spread memory.
#include <aten/Functions.h>
#include <autograd/formulas/shared.h>

#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace torch::autograd::formulas {

using c10::DimVector;

namespace {

// A strided picture of memory, without the dimensions of size 1, which say nothing.
struct Picture {
  DimVector sizes;
  DimVector strides;

  void add(int64_t size, int64_t stride) {
    if (size != 1) {
      sizes.push_back(size);
      strides.push_back(stride);
    }
  }

  // False only if no two elements share one memory offset.
  bool may_overlap() const {
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] < strides[b]; });
    int64_t reach = 0;
    for (const size_t i : order) {
      if (strides[i] <= reach) {
        return true;
      }
      reach += strides[i] * (sizes[i] - 1);
    }
    return false;
  }

  // How much memory it covers.
  int64_t extent() const {
    int64_t extent = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      extent += (sizes[i] - 1) * strides[i];
    }
    return extent;
  }
};

// For each element of the picture its place in memory.
Tensor places(const Picture& picture, int64_t offset, int64_t memory, const Tensor& like) {
  return at::arange(memory, like.options().dtype(at::kLong))
      .as_strided(picture.sizes, picture.strides, offset)
      .reshape({-1});
}

} // namespace

Tensor as_strided_backward(
    Tensor grad,
    const at::TensorGeometry& input,
    IntArrayRef sizes,
    IntArrayRef strides,
    std::optional<int64_t> storage_offset) {
  const int64_t ndim = static_cast<int64_t>(sizes.size());
  Picture output;
  // From the last dimension, so that those removed from grad do not shift the rest.
  for (int64_t i = ndim - 1; i >= 0; --i) {
    const auto at_i = static_cast<size_t>(i);
    if (sizes[at_i] == 0) {
      return at::zeros(input.sizes(), grad.options());
    }
    if (sizes[at_i] == 1) {
      grad = grad.squeeze(i);
    } else if (strides[at_i] == 0) {
      grad = grad.sum(IntArrayRef(i), /*keepdim=*/false);
    } else {
      output.add(sizes[at_i], strides[at_i]);
    }
  }
  std::reverse(output.sizes.begin(), output.sizes.end());
  std::reverse(output.strides.begin(), output.strides.end());

  Picture source;
  for (size_t i = 0; i < input.sizes().size(); ++i) {
    if (input.sizes()[i] == 0) {
      return at::zeros(input.sizes(), grad.options());
    }
    source.add(input.sizes()[i], input.strides()[i]);
  }

  // Both lie in one piece of memory, of which only the part they cover matters.
  const int64_t output_offset = storage_offset.value_or(input.storage_offset());
  const int64_t start = std::min(output_offset, input.storage_offset());
  const int64_t output_start = output_offset - start;
  const int64_t source_start = input.storage_offset() - start;
  const int64_t memory_size = std::max(output_start + output.extent(), source_start + source.extent());
  Tensor memory = grad.new_zeros({memory_size}, grad.options());

  if (output.may_overlap()) {
    memory.scatter_add_(0, places(output, output_start, memory_size, grad), grad.reshape({-1}));
  } else {
    memory.as_strided(output.sizes, output.strides, output_start).copy_(grad);
  }
  if (source.may_overlap()) {
    const Tensor indices = places(source, source_start, memory_size, grad);
    Tensor count = at::zeros({memory_size}, grad.options());
    count.scatter_add_(0, indices, at::ones({1}, grad.options()).expand_as(indices));
    // Places outside of the input become NaN, but are not seen through it.
    memory.div_(count);
  }
  return memory.as_strided(input.sizes(), input.strides(), source_start);
}

/// The gradients of as_strided_scatter, for self of the given geometry and for src: each memory offset belongs to src
/// if the strided view has it, else to self.
std::tuple<Tensor, Tensor> as_strided_scatter_backward(
    const Tensor& grad,
    const at::TensorGeometry& self,
    IntArrayRef sizes,
    IntArrayRef strides,
    std::optional<int64_t> storage_offset) {
  // The result lies in memory as self did, unless that overlapped: then it is contiguous.
  const IntArrayRef shape = self.sizes();
  DimVector layout(self.strides().begin(), self.strides().end());
  int64_t offset = self.storage_offset();
  if (std::find(layout.begin(), layout.end(), 0) != layout.end()) {
    offset = 0;
    int64_t step = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      layout[i] = step;
      step *= std::max<int64_t>(shape[i], 1);
    }
  }
  const auto last_place = [](int64_t start, IntArrayRef at_sizes, IntArrayRef at_strides) {
    for (size_t i = 0; i < at_sizes.size(); ++i) {
      start += std::max<int64_t>(at_sizes[i] - 1, 0) * at_strides[i];
    }
    return start;
  };
  const int64_t window = storage_offset.value_or(offset);
  const int64_t last = std::max(last_place(offset, shape, layout), last_place(window, sizes, strides));
  const Tensor memory = grad.new_zeros({last + 1}, grad.options());
  memory.as_strided(shape, layout, offset).copy_(grad);
  const Tensor grad_src = memory.as_strided(sizes, strides, window).clone();
  memory.as_strided(sizes, strides, window).zero_();
  return {memory.as_strided(shape, layout, offset), grad_src};
}

/// Undoes a permutation.
Tensor permute_backwards(const Tensor& grad, IntArrayRef forward_dims) {
  const int64_t ndim = static_cast<int64_t>(forward_dims.size());
  DimVector dims(forward_dims.size());
  for (size_t i = 0; i < forward_dims.size(); ++i) {
    dims[static_cast<size_t>(c10::maybe_wrap_dim(forward_dims[i], ndim))] = static_cast<int64_t>(i);
  }
  return grad.permute(dims);
}

/// Puts back the dimensions `dims` of size 1 that squeeze took from a tensor of shape `sizes`.
Tensor unsqueeze_multiple(const Tensor& grad, IntArrayRef dims, IntArrayRef sizes) {
  const int64_t ndim = static_cast<int64_t>(sizes.size());
  if (ndim == 0) {
    return grad;
  }
  std::vector<bool> squeezed(sizes.size(), false);
  for (const int64_t dim : dims) {
    const auto i = static_cast<size_t>(c10::maybe_wrap_dim(dim, ndim));
    squeezed[i] = sizes[i] == 1;
  }
  Tensor result = grad;
  for (size_t i = 0; i < squeezed.size(); ++i) {
    if (squeezed[i]) {
      result = result.unsqueeze(static_cast<int64_t>(i));
    }
  }
  return result;
}

/// Puts back all dimensions of size 1 that squeeze took from a tensor of shape `sizes`.
Tensor unsqueeze_to(const Tensor& grad, IntArrayRef sizes) {
  Tensor result = grad;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) {
      result = result.unsqueeze(static_cast<int64_t>(i));
    }
  }
  return result;
}

Tensor unsqueeze_to(const Tensor& grad, int64_t dim, IntArrayRef sizes) {
  return unsqueeze_multiple(grad, IntArrayRef(dim), sizes);
}

/// The gradient of slice, whose bounds may be left out.
Tensor slice_backward_wrapper(
    const Tensor& grad,
    IntArrayRef input_sizes,
    int64_t dim,
    std::optional<int64_t> start,
    std::optional<int64_t> end,
    int64_t step) {
  return at::slice_backward(
      grad, input_sizes, dim, start.value_or(0), end.value_or(std::numeric_limits<int64_t>::max()), step);
}

/// The gradients of the pieces of a tensor, put together; those that are undefined count as zeros.
Tensor split_with_sizes_backward(
    const std::vector<Tensor>& grads,
    IntArrayRef split_sizes,
    int64_t dim,
    IntArrayRef sizes,
    const at::TensorOptions& options) {
  dim = c10::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  std::vector<Tensor> defined(grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].defined()) {
      defined[i] = grads[i];
    } else {
      DimVector piece(sizes.begin(), sizes.end());
      piece[static_cast<size_t>(dim)] = split_sizes[i];
      defined[i] = at::zeros(piece, options);
    }
  }
  return at::cat(defined, dim);
}

Tensor split_backward(
    const std::vector<Tensor>& grads,
    int64_t split_size,
    int64_t dim,
    IntArrayRef sizes,
    const at::TensorOptions& options) {
  dim = c10::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  const int64_t num_splits = static_cast<int64_t>(grads.size());
  std::vector<int64_t> split_sizes(grads.size(), split_size);
  // Only the last piece may be smaller.
  split_sizes.back() = sizes[static_cast<size_t>(dim)] - split_size * (num_splits - 1);
  return split_with_sizes_backward(grads, split_sizes, dim, sizes, options);
}

Tensor unbind_backward(
    const std::vector<Tensor>& grads, int64_t dim, IntArrayRef sizes, const at::TensorOptions& options) {
  dim = c10::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  DimVector piece(sizes.begin(), sizes.end());
  piece.erase(piece.begin() + dim);
  std::vector<Tensor> defined(grads.size());
  std::transform(grads.begin(), grads.end(), defined.begin(), [&](const Tensor& grad) {
    return grad.defined() ? grad : at::zeros(piece, options);
  });
  return at::stack(defined, dim);
}

/// The parts of a gradient for each of the tensors that cat concatenated, real for those that are real.
std::vector<Tensor> cat_tensors_backward(
    const Tensor& grad,
    const std::vector<std::vector<int64_t>>& sizes,
    const std::vector<at::ScalarType>& dtypes,
    int64_t dim) {
  std::vector<Tensor> grads(sizes.size());
  if (!grad.defined()) {
    return grads;
  }
  // cat lets empty one-dimensional tensors pass whatever the other shapes are, so dim counts in the shape of the rest.
  const auto is_skipped = [](const std::vector<int64_t>& shape) { return shape.size() == 1 && shape[0] == 0; };
  dim = c10::maybe_wrap_dim(dim, grad.dim());
  int64_t position = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Tensor fitting = handle_r_to_c(dtypes[i], grad);
    if (is_skipped(sizes[i])) {
      grads[i] = at::zeros({0}, fitting.options());
      continue;
    }
    const int64_t length = sizes[i][static_cast<size_t>(dim)];
    grads[i] = fitting.narrow(dim, position, length);
    position += length;
  }
  return grads;
}

/// Sums the gradient over all repetitions.
Tensor repeat_backward(const Tensor& grad, IntArrayRef repeats, IntArrayRef input_sizes) {
  if (std::find(repeats.begin(), repeats.end(), 0) != repeats.end()) {
    return at::zeros(input_sizes, grad.options());
  }
  const size_t new_dims = repeats.size() - input_sizes.size();
  // Each repeated dimension is split into the repetitions, over which the sum goes, and the original.
  DimVector split;
  DimVector sum_over;
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (i < new_dims || repeats[i] != 1) {
      sum_over.push_back(static_cast<int64_t>(split.size()));
      split.push_back(repeats[i]);
    }
    if (i >= new_dims) {
      split.push_back(input_sizes[i - new_dims]);
    }
  }
  return sum_over.empty() ? grad : grad.reshape(split).sum(sum_over);
}

/// Cuts off what was padded, and pads with zeros what was cut off.
Tensor constant_pad_nd_backward(const Tensor& grad, IntArrayRef pad) {
  DimVector back(pad.begin(), pad.end());
  std::transform(back.begin(), back.end(), back.begin(), std::negate<>());
  return at::constant_pad_nd(grad, back, 0);
}

/// Deals channels back.
Tensor native_channel_shuffle_backward(const Tensor& grad, int64_t groups) {
  return grad.numel() == 0 ? grad : at::native_channel_shuffle(grad, grad.size(1) / groups);
}

/// Rolls back.
Tensor roll_backward(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims) {
  DimVector back(shifts.begin(), shifts.end());
  std::transform(back.begin(), back.end(), back.begin(), [](int64_t shift) { return -shift; });
  return grad.roll(back, dims);
}

} // namespace torch::autograd::formulas
