// Concatenating and rearranging operators written with other operators.
#include <aten/Functions.h>
#include <aten/iterator/ExpandUtils.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/accumulate.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

namespace at::native {

using c10::DimVector;

Tensor concat(TensorList tensors, int64_t dim) {
  return at::cat(tensors, dim);
}

Tensor stack(TensorList tensors, int64_t dim) {
  TORCH_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  for (size_t i = 1; i < tensors.size(); ++i) {
    TORCH_CHECK(
        tensors[i].sizes() == tensors[0].sizes(), "stack expects each tensor to be equal size, but got ",
        tensors[0].sizes(), " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  }
  dim = c10::maybe_wrap_dim(dim, tensors[0].dim() + 1);
  if (dim < tensors[0].dim() && tensors[0].layout() == kStrided) {
    // Joined along the dimension and split again: so the result keeps the memory format of the tensors.
    return at::cat(tensors, dim).unflatten(dim, {static_cast<int64_t>(tensors.size()), tensors[0].size(dim)});
  }
  std::vector<Tensor> rows;
  rows.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    rows.push_back(t.unsqueeze(dim));
  }
  return at::cat(rows, dim);
}

namespace {

/// What `cat` concatenates, and along which dimension.
struct Parts {
  std::vector<Tensor> tensors;
  int64_t dim;
};

Parts hstack_parts(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "hstack expects a non-empty TensorList");
  std::vector<Tensor> parts = at::atleast_1d(tensors);
  const int64_t dim = parts[0].dim() == 1 ? 0 : 1;
  return {std::move(parts), dim};
}

Parts vstack_parts(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "vstack expects a non-empty TensorList");
  return {at::atleast_2d(tensors), 0};
}

Parts dstack_parts(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "dstack expects a non-empty TensorList");
  return {at::atleast_3d(tensors), 2};
}

Parts column_stack_parts(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "column_stack expects a non-empty TensorList");
  std::vector<Tensor> columns;
  for (const Tensor& t : tensors) {
    columns.push_back(t.dim() <= 1 ? t.reshape({t.numel(), 1}) : t);
  }
  return hstack_parts(columns);
}

Tensor joined(const Parts& parts) {
  return at::cat(parts.tensors, parts.dim);
}

Tensor& joined_into(Tensor& out, const Parts& parts) {
  return at::cat_out(out, parts.tensors, parts.dim);
}

} // namespace

Tensor hstack(TensorList tensors) {
  return joined(hstack_parts(tensors));
}
Tensor& hstack_out(TensorList tensors, Tensor& out) {
  return joined_into(out, hstack_parts(tensors));
}

Tensor vstack(TensorList tensors) {
  return joined(vstack_parts(tensors));
}
Tensor& vstack_out(TensorList tensors, Tensor& out) {
  return joined_into(out, vstack_parts(tensors));
}

Tensor dstack(TensorList tensors) {
  return joined(dstack_parts(tensors));
}
Tensor& dstack_out(TensorList tensors, Tensor& out) {
  return joined_into(out, dstack_parts(tensors));
}

Tensor column_stack(TensorList tensors) {
  return joined(column_stack_parts(tensors));
}
Tensor& column_stack_out(TensorList tensors, Tensor& out) {
  return joined_into(out, column_stack_parts(tensors));
}

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  const auto ndim = static_cast<int64_t>(repeats.size());
  TORCH_CHECK(
      ndim >= self.dim(),
      "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: got ", repeats,
      " for a tensor of ", self.dim(), " dimensions");
  const int64_t added = ndim - self.dim();
  DimVector target(ndim);
  DimVector grid(2 * ndim);
  DimVector source(2 * ndim);
  for (int64_t i = 0; i < ndim; ++i) {
    const int64_t size = i < added ? 1 : self.size(i - added);
    const bool overflows = c10::mul_overflows(size, repeats[i], &target[i]);
    TORCH_CHECK(!overflows, "repeat: the size ", size, " repeated ", repeats[i], " times overflows");
    grid[2 * i] = repeats[i];
    grid[2 * i + 1] = size;
    source[2 * i] = 1;
    source[2 * i + 1] = size;
  }
  // A negative size is refused here; a repeat of -1 of a size of 0 is none.
  Tensor result = at::empty(target, self.options());
  if (result.numel() == 0) {
    return result;
  }
  result.view(grid).copy_(self.reshape(source));
  return result;
}

Tensor tile(const Tensor& self, IntArrayRef dims) {
  DimVector repeats(dims.begin(), dims.end());
  while (static_cast<int64_t>(repeats.size()) < self.dim()) {
    repeats.insert(repeats.begin(), 1);
  }
  return self.repeat(repeats);
}

namespace {

void check_has_dimension(const Tensor& self, std::optional<int64_t> dim) {
  TORCH_CHECK_INDEX(
      !dim || self.dim() > 0, "Dimension specified as ", dim.value_or(0),
      " but tensor has no dimensions (in repeat_interleave)");
}

} // namespace

Tensor repeat_interleave_tensor(
    const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) {
  check_has_dimension(self, dim);
  const Tensor input = dim ? self : self.flatten();
  const int64_t axis = dim.value_or(0);
  Tensor counts = repeats;
  const int64_t size = input.dim() == 0 ? 1 : input.size(axis);
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1)) {
    counts = repeats.reshape({1}).expand({size});
  } else {
    TORCH_CHECK(repeats.dim() == 1, "repeats must be 0-dim or 1-dim tensor");
    TORCH_CHECK(
        repeats.size(0) == size,
        "repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.size(0),
        " and input.size(", axis, ") = ", size);
  }
  return input.index_select(axis, at::repeat_interleave(counts, output_size));
}

Tensor repeat_interleave_int(
    const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) {
  TORCH_CHECK(repeats >= 0, "Repeats must be non-negative, got ", repeats);
  check_has_dimension(self, dim);
  const Tensor input = dim ? self : self.flatten();
  const int64_t axis = c10::maybe_wrap_dim(dim.value_or(0), input.dim());
  const int64_t size = input.dim() == 0 ? 1 : input.size(axis);
  int64_t total = 0;
  TORCH_CHECK(
      !c10::mul_overflows(repeats, size, &total), "repeat_interleave: ", repeats, " repeats of ", size,
      " elements overflow");
  TORCH_CHECK(
      !output_size || *output_size == total, "repeat_interleave: Invalid output_size, expected ", total, " but got ",
      output_size.value_or(0));
  const Tensor rows = input.dim() == 0 ? input.reshape({1}) : input;
  DimVector wide(rows.sizes().begin(), rows.sizes().end());
  wide.insert(wide.begin() + axis + 1, repeats);
  return rows.unsqueeze(axis + 1).expand(wide).clone(at::MemoryFormat::Contiguous).flatten(axis, axis + 1);
}

Tensor fliplr(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "Input must be >= 2-d.");
  return self.flip({1});
}

Tensor flipud(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 1, "Input must be >= 1-d.");
  return self.flip({0});
}

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  TORCH_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    return self.contiguous().view(-1).roll(shifts[0], 0).view(self.sizes());
  }
  TORCH_CHECK(
      shifts.size() == dims.size(), "shifts and dimensions must align. shifts: ", shifts.size(),
      ", dims:", dims.size());
  Tensor result = self;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (self.numel() == 0) {
      return self.clone(at::MemoryFormat::Preserve);
    }
    TORCH_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dims[i], " but tensor has no dimensions (in roll)");
    const int64_t dim = c10::maybe_wrap_dim(dims[i], self.dim());
    const int64_t size = self.size(dim);
    const int64_t start = ((size - shifts[i] % size) % size + size) % size;
    if (start == 0) {
      result = result.clone(at::MemoryFormat::Contiguous);
    } else {
      result = at::cat({result.narrow(dim, start, size - start), result.narrow(dim, 0, start)}, dim);
    }
  }
  return result;
}

namespace {

uint64_t apart(int64_t a, int64_t b) {
  return static_cast<uint64_t>(std::max(a, b)) - static_cast<uint64_t>(std::min(a, b));
}

} // namespace

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  TORCH_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  TORCH_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  TORCH_CHECK(
      dims[0] != dims[1] && apart(dims[0], dims[1]) != static_cast<uint64_t>(self.dim()),
      "expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  for (const size_t i : {0, 1}) {
    TORCH_CHECK(
        dims[i] < self.dim() && dims[i] >= -self.dim(), "Rotation dim", i, " out of range, dim", i, " = ", dims[i]);
  }
  const int64_t first = c10::maybe_wrap_dim(dims[0], self.dim());
  const int64_t second = c10::maybe_wrap_dim(dims[1], self.dim());
  switch ((k % 4 + 4) % 4) {
    case 1:
      return self.flip({second}).transpose_(first, second);
    case 2:
      return self.flip({first, second});
    case 3:
      return self.flip({first}).transpose_(first, second);
    default:
      return self.clone(at::MemoryFormat::Contiguous);
  }
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  TORCH_CHECK(
      self.dim() == 1 || self.dim() == 2, "matrix or a vector expected: diag() takes 1D or 2D tensors, got ",
      self.dim(), "D");
  return self.dim() == 1 ? at::diag_embed(self, diagonal)
                         : at::diagonal(self, diagonal).clone(at::MemoryFormat::Contiguous);
}

Tensor diag_backward(const Tensor& grad, IntArrayRef input_sizes, int64_t diagonal) {
  TORCH_CHECK(
      input_sizes.size() == 1 || input_sizes.size() == 2, "diag_backward: expected one or two input_sizes; got ",
      input_sizes);
  return input_sizes.size() == 1 ? at::diag(grad, diagonal) : at::diagonal_backward(grad, input_sizes, diagonal, 0, 1);
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t ndim = self.dim() + 1;
  const int64_t given1 = std::exchange(dim1, c10::maybe_wrap_dim(dim1, ndim));
  const int64_t given2 = std::exchange(dim2, c10::maybe_wrap_dim(dim2, ndim));
  TORCH_CHECK(dim1 != dim2, "diagonal dimensions cannot be identical ", given1, ", ", given2);
  int64_t side = 0;
  TORCH_CHECK(
      offset != std::numeric_limits<int64_t>::min() && !c10::add_overflows(self.size(-1), std::abs(offset), &side),
      "diag_embed: an offset of ", offset, " gives a matrix too large");
  DimVector sizes(self.sizes().begin(), self.sizes().end() - 1);
  for (const int64_t dim : {std::min(dim1, dim2), std::max(dim1, dim2)}) {
    sizes.insert(sizes.begin() + dim, side);
  }
  Tensor result = at::zeros(sizes, self.options());
  result.diagonal(offset, dim1, dim2).copy_(self);
  return result;
}

Tensor diagflat(const Tensor& self, int64_t offset) {
  return self.contiguous().view(-1).diag(offset);
}

Tensor block_diag(TensorList tensors) {
  if (tensors.empty()) {
    return at::empty({1, 0});
  }
  std::vector<Tensor> blocks;
  int64_t rows = 0;
  int64_t cols = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    TORCH_CHECK(
        t.dim() <= 2, "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ", i, " has ", t.dim(),
        " dimensions");
    blocks.push_back(at::atleast_2d(t));
    rows += blocks.back().size(0);
    cols += blocks.back().size(1);
  }
  std::vector<Tensor> padded;
  int64_t before = 0;
  for (const Tensor& block : blocks) {
    const int64_t after = cols - before - block.size(1);
    padded.push_back(at::cat(
        {at::zeros({block.size(0), before}, block.options()), block,
         at::zeros({block.size(0), after}, block.options())},
        1));
    before += block.size(1);
  }
  return at::cat(padded, 0);
}

Tensor cartesian_prod(TensorList tensors) {
  for (const Tensor& t : tensors) {
    TORCH_CHECK(t.dim() == 1, "Expect a 1D vector, but got shape ", t.sizes());
  }
  if (tensors.size() == 1) {
    return tensors[0];
  }
  std::vector<Tensor> columns;
  for (const Tensor& grid : at::meshgrid(tensors, "ij")) {
    columns.push_back(grid.flatten());
  }
  return at::stack(columns, 1);
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  TORCH_CHECK(!sequences.empty(), "received an empty list of sequences");
  TORCH_CHECK(
      padding_side == "left" || padding_side == "right", "Expected padding_side to be one of left or right, but got ",
      padding_side, ".");
  int64_t longest = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Tensor& t = sequences[i];
    TORCH_CHECK_INDEX(
        t.dim() > 0, "Dimension specified as 0 but tensor has no dimensions (in pad_sequence, sequence ", i, ")");
    const IntArrayRef first = sequences[0].sizes().slice(1), rest = t.sizes().slice(1);
    at::infer_size(first, rest); // throws unless they broadcast
    TORCH_CHECK(
        first == rest, "pad_sequence: the sizes of sequences must be equal but for the first; got ",
        sequences[0].sizes(), " at entry 0 and ", t.sizes(), " at entry ", i);
    longest = std::max(longest, t.size(0));
  }
  std::vector<Tensor> rows;
  rows.reserve(sequences.size());
  for (const Tensor& t : sequences) {
    DimVector widths(2 * t.dim(), 0);
    widths[widths.size() - (padding_side == "left" ? 2 : 1)] = longest - t.size(0);
    rows.push_back(at::constant_pad_nd(t, widths, padding_value).to(sequences[0].scalar_type()));
  }
  return at::stack(rows, batch_first ? 0 : 1);
}

Tensor flatten_dense_tensors(TensorList tensors) {
  std::vector<Tensor> flat;
  flat.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    flat.push_back(t.contiguous().view(-1));
  }
  return at::cat(flat);
}

std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat, TensorList tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  int64_t start = 0;
  for (const Tensor& t : tensors) {
    // An empty tensor is no view: it would alias memory that is not its own.
    result.push_back(
        t.numel() == 0 ? at::empty({0}, flat.options()) : flat.narrow(0, start, t.numel()).view(t.sizes()));
    start += t.numel();
  }
  return result;
}

Tensor _chunk_cat(TensorList tensors, int64_t dim, int64_t num_chunks) {
  TORCH_CHECK(num_chunks > 0, "_chunk_cat expects positive num_chunks, got ", num_chunks);
  TORCH_CHECK(!tensors.empty(), "_chunk_cat expects a non-empty input tensor list");
  const Tensor& first = tensors[0];
  dim = c10::maybe_wrap_dim(dim, first.dim());
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(
        tensor.scalar_type() == first.scalar_type(), "_chunk_cat expects all input tensors with the same dtype, got ",
        tensor.scalar_type(), " and ", first.scalar_type());
    TORCH_CHECK(
        tensor.dim() > dim, "_chunk_cat expects dim < ndim for all input tensors, got dim ", dim, " for sizes ",
        tensor.sizes());
    TORCH_CHECK(
        tensor.sizes().slice(0, dim) == first.sizes().slice(0, dim),
        "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all input tensors, got ", tensor.sizes(), " and ",
        first.sizes());
    TORCH_CHECK(tensor.numel() > 0, "_chunk_cat expects non-empty tensors, got sizes ", tensor.sizes());
    const int64_t size = tensor.size(dim);
    const int64_t chunk = (size - 1) / num_chunks + 1;
    int64_t padded = 0;
    TORCH_CHECK(
        !__builtin_mul_overflow(chunk, num_chunks, &padded), "_chunk_cat: num_chunks ", num_chunks, " is too large");
    DimVector pad(static_cast<size_t>(2 * (tensor.dim() - dim)), 0);
    pad.back() = padded - size;
    DimVector sizes(tensor.sizes().begin(), tensor.sizes().begin() + dim);
    sizes.push_back(num_chunks);
    sizes.push_back(chunk * c10::multiply_integers(tensor.sizes().slice(dim + 1)));
    parts.push_back(at::constant_pad_nd(tensor, pad).reshape(sizes));
  }
  return at::cat(parts, -1);
}

} // namespace at::native
