// View operators written with other view operators.
#include <aten/native/support/view_support.h>

#include <aten/Functions.h>
#include <aten/core/Formatting.h>
#include <aten/functorch/level_values.h>
#include <aten/iterator/ExpandUtils.h>
#include <c10/core/DeferredStorage.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <numeric>

namespace at::native {

using c10::DimVector;

Tensor lift_fresh(const Tensor& self) {
  return self;
}

Tensor view_as(const Tensor& self, const Tensor& other) {
  return self.view(other.sizes());
}

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  if (self.layout() == kStrided && self.is_contiguous()) {
    return self.view(shape);
  }
  const DimVector sizes = infer_size(shape, self.numel());
  if (const auto strides = compute_view_strides(self.sizes(), self.strides(), sizes)) {
    return at::_reshape_alias(self, sizes, *strides);
  }
  return at::_unsafe_view(self.clone(at::MemoryFormat::Contiguous), sizes);
}

Tensor _shape_as_tensor(const Tensor& self) {
  const Tensor result = at::empty({self.dim()}, kLong);
  std::copy(self.sizes().begin(), self.sizes().end(), result.mutable_data_ptr<int64_t>());
  return result;
}

Tensor _reshape_from_tensor(const Tensor& self, const Tensor& shape) {
  TORCH_CHECK(
      shape.dim() == 1, "Expected shape_tensor.dim() == 1 to be true, but got false.  ",
      "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.) ",
      "_reshape_from_tensor got a shape of sizes ", shape.sizes());
  TORCH_CHECK(
      shape.scalar_type() == kLong, "expected scalar type Long but found ", shape.scalar_type(),
      ": _reshape_from_tensor needs a shape of int64");
  TORCH_CHECK(shape.is_cpu(), "_reshape_from_tensor: shape must be on the CPU, got ", shape.device());
  const Tensor sizes = functorch::same_in_all_samples(shape, "_reshape_from_tensor", "shape").contiguous();
  c10::compute_storage(sizes.storage());
  return self.reshape(IntArrayRef(sizes.const_data_ptr<int64_t>(), sizes.numel()));
}

Tensor reshape_as(const Tensor& self, const Tensor& other) {
  return self.reshape(other.sizes());
}

Tensor ravel(const Tensor& self) {
  return self.contiguous().view(-1);
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  start_dim = c10::maybe_wrap_dim(start_dim, self.dim());
  end_dim = c10::maybe_wrap_dim(end_dim, self.dim());
  TORCH_CHECK(
      start_dim <= end_dim, "flatten() has invalid args: start_dim cannot come after end_dim, got ", start_dim, " and ",
      end_dim);
  if (self.dim() == 0) {
    return self.reshape({1});
  }
  if (start_dim == end_dim) {
    return self;
  }
  // Not -1: the joined size must be known even when another dimension is empty.
  int64_t joined = 1;
  DimVector shape;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i >= start_dim && i <= end_dim) {
      joined *= self.size(i);
    } else {
      shape.push_back(self.size(i));
    }
  }
  shape.insert(shape.begin() + start_dim, joined);
  return self.reshape(shape);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  TORCH_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  TORCH_CHECK(!self.has_names(), "unflatten: input is a named tensor but no names were given for unflattened sizes");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  int64_t known = 1;
  for (const int64_t part : sizes) {
    TORCH_CHECK(
        part == -1 || !c10::mul_overflows(known, part, &known), "unflatten: the product of the sizes ", sizes,
        " overflows");
  }
  const auto unknown = std::count(sizes.begin(), sizes.end(), -1);
  TORCH_CHECK(
      unknown <= 1, "unflatten got an unexpected error: only one size can be inferred, got ", sizes, " for dim ", dim);
  TORCH_CHECK(
      unknown == 1 ? (known > 0 && size % known == 0) : known == size, "unflatten: Provided sizes ", sizes,
      " don't multiply up to the size of dim ", dim, " (", size, ") in the input tensor");
  const DimVector parts = infer_size(sizes, size);
  DimVector shape(self.sizes().begin(), self.sizes().end());
  if (!shape.empty()) {
    shape.erase(shape.begin() + dim);
  }
  shape.insert(shape.begin() + dim, parts.begin(), parts.end());
  return self.view(shape);
}

// ---- permutations ---------------------------------------------------------------

Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  return self.transpose(axis0, axis1);
}

Tensor& swapaxes_(Tensor& self, int64_t axis0, int64_t axis1) {
  return self.transpose_(axis0, axis1);
}

Tensor numpy_T(const Tensor& self) {
  DimVector order(self.dim());
  std::iota(order.rbegin(), order.rend(), 0);
  return self.permute(order);
}

Tensor mT(const Tensor& self) {
  TORCH_CHECK(
      self.dim() != 1, "tensor.mT is only supported on matrices or batches of matrices. Got ", self.dim(),
      "-D tensor.");
  return self.dim() == 0 ? self : self.transpose(-2, -1);
}

namespace {

Tensor adjoint_of(const char* name, const Tensor& self) {
  TORCH_CHECK(
      self.dim() != 1, "tensor.", name, " is only supported on matrices or batches of matrices. Got ", self.dim(),
      "-D tensor.");
  const Tensor transposed = self.dim() == 0 ? self : self.transpose(-2, -1);
  return self.is_complex() ? transposed.conj() : transposed;
}

} // namespace

Tensor mH(const Tensor& self) {
  return adjoint_of("mH", self);
}

Tensor adjoint(const Tensor& self) {
  return adjoint_of("adjoint()", self);
}

Tensor matrix_H(const Tensor& self) {
  if (self.dim() == 0) {
    return self.is_complex() ? self.conj() : self;
  }
  TORCH_CHECK(
      self.dim() == 2, "tensor.H is only supported on matrices (2-D tensors). Got ", self.dim(), "-D tensor.",
      self.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  const Tensor transposed = self.transpose(0, 1);
  return self.is_complex() ? transposed.conj() : transposed;
}

Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  TORCH_CHECK(
      source.size() == destination.size(), "movedim: Invalid source or destination dims: source (", source,
      " dims) should contain the same number of dims as destination (", destination, " dims)");
  const int64_t ndim = self.dim();
  const auto wrap = [ndim](IntArrayRef dims) {
    DimVector wrapped;
    for (const int64_t dim : dims) {
      wrapped.push_back(c10::maybe_wrap_dim(dim, ndim));
    }
    return wrapped;
  };
  const auto check_distinct = [](const DimVector& wrapped, const char* which, IntArrayRef dims) {
    for (auto d = wrapped.begin(); d != wrapped.end(); ++d) {
      TORCH_CHECK(std::find(wrapped.begin(), d, *d) == d, "movedim: repeated dim in `", which, "` (", dims, ")");
    }
  };
  const DimVector from = wrap(source);
  const DimVector to = wrap(destination);
  check_distinct(from, "source", source);
  check_distinct(to, "destination", destination);
  if (ndim == 0) {
    return at::alias(self);
  }
  DimVector order(ndim, -1);
  for (size_t i = 0; i < from.size(); ++i) {
    order[to[i]] = from[i];
  }
  int64_t next = 0;
  for (int64_t& slot : order) {
    if (slot != -1) {
      continue;
    }
    while (std::find(from.begin(), from.end(), next) != from.end()) {
      ++next;
    }
    slot = next++;
  }
  return self.permute(order);
}

Tensor movedim_int(const Tensor& self, int64_t source, int64_t destination) {
  return at::movedim(self, IntArrayRef(source), IntArrayRef(destination));
}

// ---- broadcast --------------------------------------------------------------------

Tensor expand_as(const Tensor& self, const Tensor& other) {
  return self.expand(other.sizes());
}

Tensor broadcast_to(const Tensor& self, IntArrayRef size) {
  return self.expand(size);
}

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  return at::expand_outplace(tensors);
}

// ---- parts of a dimension -------------------------------------------------------------

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TORCH_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  const int64_t size = self.size(dim);
  if (start != size) {
    start = c10::maybe_wrap_dim(start, size);
  }
  TORCH_CHECK(
      length >= 0 && start <= size - length, "start (", start, ") + length (", length, ") exceeds dimension size (",
      size, ").");
  return self.slice(dim, start, start + length, 1);
}

Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  TORCH_CHECK(
      start.dim() == 0 && at::isIntegralType(start.scalar_type(), /*includeBool=*/false),
      "start must be an 0-dim integral Tensor. Got sizes ", start.sizes(), " and dtype ", start.scalar_type());
  return self.narrow(dim, start.item<int64_t>(), length);
}

std::vector<Tensor> split_sizes(const Tensor& self, IntArrayRef split_size, int64_t dim) {
  return self.split_with_sizes(split_size, dim);
}

namespace {

/// Lengths of `chunks` pieces as torch.chunk cuts them; empty when one split size does.
int64_t chunk_length(const Tensor& self, int64_t chunks, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TORCH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t size = self.size(dim);
  // An empty dimension still gives the number of pieces asked for, each a tensor.
  constexpr int64_t kMostEmptyPieces = int64_t{1} << 24;
  TORCH_CHECK(
      size > 0 || chunks <= kMostEmptyPieces, "chunk expects `chunks` to be at most ", kMostEmptyPieces,
      " for a dimension of size 0, got: ", chunks);
  return size / chunks + (size % chunks != 0 ? 1 : 0);
}

} // namespace

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  const int64_t length = chunk_length(self, chunks, dim);
  if (length == 0) {
    return self.split_with_sizes(std::vector<int64_t>(chunks, 0), dim);
  }
  return self.split(length, dim);
}

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  const int64_t length = chunk_length(self, chunks, dim);
  if (length == 0) {
    return self.unsafe_split_with_sizes(std::vector<int64_t>(chunks, 0), dim);
  }
  return self.unsafe_split(length, dim);
}

std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  TORCH_CHECK(
      self.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ", self.dim(),
      " dims");
  TORCH_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  constexpr int64_t kMostSections = int64_t{1} << 24; // a tensor each, most of them empty
  TORCH_CHECK(sections <= kMostSections, "number of sections must be at most ", kMostSections, ", got ", sections);
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  std::vector<Tensor> result;
  result.reserve(sections);
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = size / sections + (i < size % sections ? 1 : 0);
    result.push_back(self.slice(dim, start, start + length));
    start += length;
  }
  return result;
}

std::vector<Tensor> tensor_split_indices(const Tensor& self, IntArrayRef indices, int64_t dim) {
  TORCH_CHECK(
      self.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ", self.dim(),
      " dims");
  dim = c10::maybe_wrap_dim(dim, self.dim());
  std::vector<Tensor> result;
  result.reserve(indices.size() + 1);
  int64_t start = 0;
  for (const int64_t end : indices) {
    result.push_back(self.slice(dim, start, end));
    start = end;
  }
  result.push_back(self.slice(dim, start, self.size(dim)));
  return result;
}

std::vector<Tensor> tensor_split_tensor(const Tensor& self, const Tensor& indices_or_sections, int64_t dim) {
  TORCH_CHECK(
      indices_or_sections.device().is_cpu(),
      "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on ", indices_or_sections.device());
  TORCH_CHECK(
      indices_or_sections.scalar_type() == kLong,
      "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
      indices_or_sections.scalar_type());
  TORCH_CHECK(
      indices_or_sections.dim() <= 1,
      "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a "
      "tensor with ",
      indices_or_sections.dim(), " dims");
  if (indices_or_sections.dim() == 0) {
    return self.tensor_split(indices_or_sections.item<int64_t>(), dim);
  }
  const Tensor dense = indices_or_sections.contiguous();
  c10::compute_storage(dense.storage());
  return self.tensor_split(IntArrayRef(dense.const_data_ptr<int64_t>(), dense.numel()), dim);
}

namespace {

void check_split(const char* op, const Tensor& self, int64_t least) {
  TORCH_CHECK(
      self.dim() >= least, "torch.", op, " requires a tensor with at least ", least,
      " dimension, but got a tensor with ", self.dim(), " dimensions!");
}

void check_split(const char* op, const Tensor& self, int64_t least, int64_t dim, int64_t sections) {
  check_split(op, self, least);
  TORCH_CHECK(
      sections != 0 && self.size(dim) % sections == 0, "torch.", op, " attempted to split along dimension ", dim,
      ", but the size of the dimension ", self.size(dim), " is not divisible by the split_size ", sections, "!");
}

} // namespace

std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  const int64_t dim = self.dim() == 1 ? 0 : 1;
  check_split("hsplit", self, 1, dim, sections);
  return self.tensor_split(sections, dim);
}
std::vector<Tensor> hsplit_array(const Tensor& self, IntArrayRef indices) {
  check_split("hsplit", self, 1);
  return self.tensor_split(indices, self.dim() == 1 ? 0 : 1);
}
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  check_split("vsplit", self, 2, 0, sections);
  return self.tensor_split(sections, 0);
}
std::vector<Tensor> vsplit_array(const Tensor& self, IntArrayRef indices) {
  check_split("vsplit", self, 2);
  return self.tensor_split(indices, 0);
}
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  check_split("dsplit", self, 3, 2, sections);
  return self.tensor_split(sections, 2);
}
std::vector<Tensor> dsplit_array(const Tensor& self, IntArrayRef indices) {
  check_split("dsplit", self, 3);
  return self.tensor_split(indices, 2);
}

// ---- complex -----------------------------------------------------------------------

Tensor real(const Tensor& self) {
  if (!self.is_complex()) {
    return self;
  }
  const Tensor plain = self.is_conj() ? self._conj() : self;
  return at::view_as_real(plain).select(-1, 0);
}

Tensor imag(const Tensor& self) {
  TORCH_CHECK(self.is_complex(), "imag is not implemented for tensors with non-complex dtypes.");
  if (self.is_conj()) {
    return at::view_as_real(self._conj()).select(-1, 1)._neg_view();
  }
  return at::view_as_real(self).select(-1, 1);
}

Tensor conj(const Tensor& self) {
  // Sparse tensors have no memory that a view could read in another way.
  return !self.is_complex() ? self : self.layout() == kStrided ? self._conj() : self.conj_physical();
}

Tensor resolve_conj(const Tensor& self) {
  return self.is_conj() ? self.clone() : self;
}

Tensor resolve_neg(const Tensor& self) {
  return self.is_neg() ? self.clone() : self;
}

bool is_conj(const Tensor& self) {
  return self.is_conj();
}

bool is_neg(const Tensor& self) {
  return self.is_neg();
}

// ---- at least so many dimensions ------------------------------------------------------

Tensor atleast_1d(const Tensor& self) {
  return self.dim() == 0 ? self.reshape({1}) : self;
}

Tensor atleast_2d(const Tensor& self) {
  switch (self.dim()) {
    case 0:
      return self.reshape({1, 1});
    case 1:
      return self.unsqueeze(0);
    default:
      return self;
  }
}

Tensor atleast_3d(const Tensor& self) {
  switch (self.dim()) {
    case 0:
      return self.reshape({1, 1, 1});
    case 1:
      return self.unsqueeze(0).unsqueeze(-1);
    case 2:
      return self.unsqueeze(-1);
    default:
      return self;
  }
}

namespace {

template <class F>
std::vector<Tensor> map(TensorList tensors, F f) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  std::transform(tensors.begin(), tensors.end(), std::back_inserter(result), f);
  return result;
}

} // namespace

std::vector<Tensor> atleast_1d_list(TensorList tensors) {
  return map(tensors, [](const Tensor& t) { return at::atleast_1d(t); });
}
std::vector<Tensor> atleast_2d_list(TensorList tensors) {
  return map(tensors, [](const Tensor& t) { return at::atleast_2d(t); });
}
std::vector<Tensor> atleast_3d_list(TensorList tensors) {
  return map(tensors, [](const Tensor& t) { return at::atleast_3d(t); });
}

std::vector<Tensor> meshgrid_indexing(TensorList tensors, std::string_view indexing) {
  TORCH_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  TORCH_CHECK(
      indexing == "xy" || indexing == "ij",
      "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  for (const Tensor& t : tensors) {
    TORCH_CHECK(t.dim() <= 1, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ", t);
    TORCH_CHECK(t.scalar_type() == tensors[0].scalar_type(), "meshgrid expects all tensors to have the same dtype");
    TORCH_CHECK(t.device() == tensors[0].device(), "meshgrid expects all tensors to have the same device");
  }
  std::vector<Tensor> inputs(tensors.begin(), tensors.end());
  const bool swap = indexing == "xy" && inputs.size() >= 2;
  if (swap) {
    std::swap(inputs[0], inputs[1]);
  }
  DimVector shape;
  for (const Tensor& t : inputs) {
    shape.push_back(t.numel());
  }
  std::vector<Tensor> grids;
  for (size_t i = 0; i < inputs.size(); ++i) {
    DimVector one(inputs.size(), 1);
    one[i] = shape[i];
    grids.push_back(inputs[i].view(one).expand(shape));
  }
  if (swap) {
    std::swap(grids[0], grids[1]);
  }
  return grids;
}

std::vector<Tensor> meshgrid(TensorList tensors) {
  return at::native::meshgrid_indexing(tensors, "ij");
}

} // namespace at::native
