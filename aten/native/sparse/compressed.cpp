// Compressed sparse tensors: making, checking and taking apart.
#include <aten/native/sparse/compressed.h>
#include <aten/native/sparse/coo.h>

#include <aten/Functions.h>
#include <aten/core/EmptyTensor.h>
#include <aten/core/TensorOperators.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/DimVector.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <limits>

namespace at::native {

using c10::DimVector;

namespace {

using OptDtype = std::optional<ScalarType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;

const char* compressed_name(Layout layout) {
  return is_row_compressed(layout) ? "crow_indices" : "ccol_indices";
}
const char* plain_name(Layout layout) {
  return is_row_compressed(layout) ? "col_indices" : "row_indices";
}
const char* compressed_dim_name(Layout layout) {
  return is_row_compressed(layout) ? "row" : "column";
}
const char* plain_count_name(Layout layout) {
  return is_row_compressed(layout) ? "ncols" : "nrows";
}
const char* compressed_count_name(Layout layout) {
  return is_row_compressed(layout) ? "nrows" : "ncols";
}

Layout known_layout(OptLayout layout) {
  TORCH_CHECK(layout.has_value(), "sparse_compressed_tensor expected sparse compressed tensor layout but got none");
  TORCH_CHECK(is_compressed_layout(*layout), "expected sparse compressed tensor layout but got ", *layout);
  return *layout;
}

template <class T>
void check_line(const T* start, const T* index, int64_t lines, int64_t count, int64_t nnz, Layout layout) {
  const char* compressed = compressed_name(layout);
  const char* plain = plain_name(layout);
  TORCH_CHECK(start[0] == 0, "`", compressed, "[..., 0] == 0` is not satisfied.");
  TORCH_CHECK(start[lines] == nnz, "`", compressed, "[..., -1] == nnz` is not satisfied.");
  for (int64_t i = 0; i < lines; ++i) {
    TORCH_CHECK(
        start[i + 1] >= start[i] && start[i + 1] - start[i] <= count, "`0 <= ", compressed, "[..., 1:] - ", compressed,
        "[..., :-1] <= ", plain_count_name(layout), "` is not satisfied.");
  }
  for (int64_t k = 0; k < nnz; ++k) {
    TORCH_CHECK(
        index[k] >= 0 && index[k] < count, "`0 <= ", plain, " < ", plain_count_name(layout), "` is not satisfied.");
  }
  for (int64_t i = 0; i < lines; ++i) {
    for (int64_t k = start[i] + 1; k < start[i + 1]; ++k) {
      TORCH_CHECK(
          index[k - 1] < index[k], "`", plain, "[..., ", compressed, "[..., i - 1]:", compressed,
          "[..., i]] for all i = 1, ..., ", compressed_count_name(layout),
          " are sorted and distinct along the last dimension values` is not satisfied.");
    }
  }
}

void check_indices(
    const Tensor& compressed, const Tensor& plain, int64_t lines, int64_t count, int64_t nnz, Layout layout) {
  const Tensor starts = compressed.to(kCPU, kLong).contiguous();
  const Tensor indices = plain.to(kCPU, kLong).contiguous();
  const int64_t batches = starts.numel() / (lines + 1);
  for (int64_t b = 0; b < batches; ++b) {
    check_line(
        starts.const_data_ptr<int64_t>() + b * (lines + 1), indices.const_data_ptr<int64_t>() + b * nnz, lines, count,
        nnz, layout);
  }
}

void check_shapes(
    const Tensor& compressed, const Tensor& plain, const Tensor& values, IntArrayRef size, Layout layout) {
  TORCH_CHECK(
      compressed.layout() == kStrided && plain.layout() == kStrided && values.layout() == kStrided, "expected ",
      compressed_name(layout), ", ", plain_name(layout), " and values to be strided tensors, but got layouts ",
      compressed.layout(), ", ", plain.layout(), " and ", values.layout());
  const int64_t block_dim = is_blocked(layout) ? 2 : 0;
  TORCH_CHECK(
      compressed.dim() >= 1, compressed_name(layout), " must have dimensionality >= 1 but got ", compressed.dim());
  TORCH_CHECK(
      compressed.dim() == plain.dim(), compressed_name(layout), " and ", plain_name(layout),
      " dimensionalities must be equal but got ", compressed.dim(), " and ", plain.dim(), ", respectively");
  const int64_t batch = compressed.dim() - 1;
  TORCH_CHECK(
      values.dim() > batch + block_dim,
      "values must have dimensionality > sum of batch and block dimensionalities (=", batch, " + ", block_dim,
      ") but got ", values.dim());
  const int64_t dense = values.dim() - batch - block_dim - 1;
  TORCH_CHECK(
      static_cast<int64_t>(size.size()) == batch + 2 + dense,
      "tensor dimensionality must be sum of batch, base, and dense dimensionalities (=", batch, " + 2 + ", dense,
      ") but got ", size.size());
  for (const int64_t s : size) {
    TORCH_CHECK(s >= 0, "a sparse tensor cannot have a negative size, got ", size);
  }
  const int64_t nnz = values.size(batch);
  TORCH_CHECK(
      plain.size(-1) == nnz, plain_name(layout), ".shape[-1] must be equal to nnz (=", nnz,
      ") as defined by values.shape[", batch, "], but got ", plain.size(-1));
  std::array<int64_t, 2> blocks{1, 1};
  if (block_dim != 0) {
    blocks = {values.size(batch + 1), values.size(batch + 2)};
    for (int64_t d = 0; d < 2; ++d) {
      TORCH_CHECK(
          blocks[d] > 0, "values must have positive blocksize, but got blocksize [", blocks[0], ", ", blocks[1], "]");
      TORCH_CHECK(
          size[batch + d] % blocks[d] == 0, "tensor shape[", d, "] (=", size[batch + d],
          ") must be divisible with blocksize[", d, "] (=", blocks[d], ") as defined by values shape");
    }
  }
  const int64_t by = is_row_compressed(layout) ? 0 : 1;
  const int64_t lines = size[batch + by] / blocks[by];
  TORCH_CHECK(
      compressed.size(-1) == lines + 1, compressed_name(layout), ".shape[-1] must be equal to the number of ",
      compressed_dim_name(layout), block_dim == 0 ? "s" : " blocks", " + 1 (=", lines + 1, "), but got ",
      compressed.size(-1));
  for (int64_t d = 0; d < batch; ++d) {
    TORCH_CHECK(
        compressed.size(d) == size[d] && plain.size(d) == size[d] && values.size(d) == size[d],
        "all batch dimensions of ", compressed_name(layout), " (=", compressed.sizes().slice(0, batch), "), ",
        plain_name(layout), " (=", plain.sizes().slice(0, batch), "), and values (=", values.sizes().slice(0, batch),
        ") must be equal to tensor batch dimensions (=", size.slice(0, batch), ")");
  }
  for (int64_t d = 0; d < dense; ++d) {
    TORCH_CHECK(
        values.size(batch + 1 + block_dim + d) == size[batch + 2 + d], "values has incorrect size in dense dimension ",
        d, ": expected ", size[batch + 2 + d], ", got ", values.size(batch + 1 + block_dim + d));
  }
  TORCH_CHECK(
      compressed.scalar_type() == plain.scalar_type(), compressed_name(layout), " and ", plain_name(layout),
      " must have the same dtype, bot got ", compressed.scalar_type(), " and ", plain.scalar_type(), ", respectively");
  TORCH_CHECK(
      compressed.scalar_type() == kInt || compressed.scalar_type() == kLong, compressed_name(layout), " and ",
      plain_name(layout), " dtype must be Int or Long, but got ", compressed.scalar_type());
}

/// The least size that holds all elements.
DimVector guessed_size(const Tensor& compressed, const Tensor& plain, const Tensor& values, Layout layout) {
  TORCH_CHECK(
      compressed.dim() >= 1 && plain.dim() == compressed.dim() &&
          values.dim() >= plain.dim() + (is_blocked(layout) ? 2 : 0) && compressed.size(-1) >= 1,
      "sparse_compressed_tensor: cannot tell the size from ", compressed_name(layout), " ", compressed.sizes(), ", ",
      plain_name(layout), " ", plain.sizes(), " and values ", values.sizes());
  const int64_t batch = compressed.dim() - 1;
  const int64_t block_dim = is_blocked(layout) ? 2 : 0;
  DimVector sizes(compressed.sizes().begin(), compressed.sizes().begin() + batch);
  const int64_t by = is_row_compressed(layout) ? 0 : 1;
  const std::array<int64_t, 2> blocks = block_dim == 0
      ? std::array<int64_t, 2>{1, 1}
      : std::array<int64_t, 2>{values.size(batch + 1), values.size(batch + 2)};
  std::array<int64_t, 2> matrix{};
  matrix[by] = (compressed.size(-1) - 1) * blocks[by];
  if (plain.numel() != 0) {
    const int64_t last = plain.max().item<int64_t>();
    TORCH_CHECK(
        last < INT64_MAX && !c10::mul_overflows(last + 1, blocks[1 - by], &matrix[1 - by]),
        "sparse_compressed_tensor: cannot tell the size from ", plain_name(layout), ": the index ", last,
        " is larger than any size");
  }
  sizes.append(matrix.begin(), matrix.end());
  sizes.append(values.sizes().begin() + batch + 1 + block_dim, values.sizes().end());
  return sizes;
}

} // namespace

Layout transposed_layout(Layout layout) {
  switch (layout) {
    case kSparseCsr:
      return kSparseCsc;
    case kSparseCsc:
      return kSparseCsr;
    case kSparseBsr:
      return kSparseBsc;
    default:
      return kSparseBsr;
  }
}

namespace {

c10::DispatchKeySet compressed_key(Device device) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      device.is_cpu() || device.is_cuda(), "sparse tensors are on the CPU and on CUDA devices, got device ", device);
  return c10::DispatchKeySet(c10::TensorOptions(kSparseCsr).device(device).computeDispatchKey());
}

} // namespace

Tensor make_compressed(
    Layout layout,
    IntArrayRef sizes,
    const Tensor& compressed_indices,
    const Tensor& plain_indices,
    const Tensor& values) {
  Tensor result = at::detail::make_tensor<SparseCsrTensorImpl>(
      compressed_key(values.device()), values.device(), layout, values.dtype());
  compressed_impl(result)->set_member_tensors(compressed_indices, plain_indices, values, sizes);
  return result;
}

Tensor with_compressed_values(const Tensor& like, const Tensor& values) {
  const SparseCsrTensorImpl* impl = compressed_impl(like);
  return make_compressed(like.layout(), like.sizes(), impl->compressed_indices(), impl->plain_indices(), values);
}

std::array<int64_t, 2> block_sizes(const Tensor& self) {
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  const int64_t batch = impl->batch_dim();
  return is_blocked(self.layout())
      ? std::array<int64_t, 2>{impl->values().size(batch + 1), impl->values().size(batch + 2)}
      : std::array<int64_t, 2>{1, 1};
}

// ---- checks ----------------------------------------------------------------------------

void _validate_sparse_compressed_tensor_args(
    const Tensor& compressed_indices,
    const Tensor& plain_indices,
    const Tensor& values,
    IntArrayRef size,
    Layout layout,
    OptBool) {
  known_layout(layout);
  check_shapes(compressed_indices, plain_indices, values, size, layout);
  const int64_t batch = compressed_indices.dim() - 1;
  const std::array<int64_t, 2> blocks = is_blocked(layout)
      ? std::array<int64_t, 2>{values.size(batch + 1), values.size(batch + 2)}
      : std::array<int64_t, 2>{1, 1};
  const int64_t by = is_row_compressed(layout) ? 0 : 1;
  check_indices(
      compressed_indices, plain_indices, size[batch + by] / blocks[by], size[batch + 1 - by] / blocks[1 - by],
      values.size(batch), layout);
}

void _validate_sparse_csr_tensor_args(
    const Tensor& crow_indices,
    const Tensor& col_indices,
    const Tensor& values,
    IntArrayRef size,
    OptBool check_pinning) {
  at::native::_validate_sparse_compressed_tensor_args(
      crow_indices, col_indices, values, size, kSparseCsr, check_pinning);
}
void _validate_sparse_csc_tensor_args(
    const Tensor& ccol_indices,
    const Tensor& row_indices,
    const Tensor& values,
    IntArrayRef size,
    OptBool check_pinning) {
  at::native::_validate_sparse_compressed_tensor_args(
      ccol_indices, row_indices, values, size, kSparseCsc, check_pinning);
}
void _validate_sparse_bsr_tensor_args(
    const Tensor& crow_indices,
    const Tensor& col_indices,
    const Tensor& values,
    IntArrayRef size,
    OptBool check_pinning) {
  at::native::_validate_sparse_compressed_tensor_args(
      crow_indices, col_indices, values, size, kSparseBsr, check_pinning);
}
void _validate_sparse_bsc_tensor_args(
    const Tensor& ccol_indices,
    const Tensor& row_indices,
    const Tensor& values,
    IntArrayRef size,
    OptBool check_pinning) {
  at::native::_validate_sparse_compressed_tensor_args(
      ccol_indices, row_indices, values, size, kSparseBsc, check_pinning);
}

void _validate_compressed_sparse_indices(
    bool is_crow, const Tensor& compressed_idx, const Tensor& plain_idx, int64_t cdim, int64_t dim, int64_t nnz) {
  TORCH_CHECK(
      cdim >= 0 && nnz >= 0 && compressed_idx.dim() >= 1 && compressed_idx.size(-1) - 1 == cdim &&
          plain_idx.dim() == compressed_idx.dim() && plain_idx.size(-1) == nnz &&
          plain_idx.numel() * (cdim + 1) == compressed_idx.numel() * nnz,
      "_validate_compressed_sparse_indices: compressed indices of shape ", compressed_idx.sizes(),
      " and plain ones of ", plain_idx.sizes(), " do not fit cdim = ", cdim, " and nnz = ", nnz);
  check_indices(compressed_idx, plain_idx, cdim, dim, nnz, is_crow ? kSparseCsr : kSparseCsc);
}

// ---- factories -------------------------------------------------------------------------

Tensor _sparse_compressed_tensor_kernel(
    const Tensor& compressed_indices,
    const Tensor& plain_indices,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool) {
  const Layout wanted = known_layout(layout);
  // Kernels rely on what members say of each other.
  at::native::_validate_sparse_compressed_tensor_args(
      compressed_indices, plain_indices, values, size, wanted, std::nullopt);
  TORCH_CHECK(
      !device || device->type() == values.device().type(),
      "values and compressed tensor instance need to be on the same device, got ", values.device(), " and ", *device);
  for (const Tensor* indices : {&compressed_indices, &plain_indices}) {
    TORCH_CHECK(
        indices->device() == values.device(),
        "indices and values of a compressed sparse tensor need to be on the same device, got ", indices->device(),
        " and ", values.device());
  }
  return make_compressed(
      wanted, size, sparse_member(compressed_indices), sparse_member(plain_indices),
      sparse_member(!dtype || *dtype == values.scalar_type() ? values : values.to(*dtype)));
}

Tensor _sparse_compressed_tensor_with_dims(
    int64_t nnz,
    int64_t dense_dim,
    IntArrayRef size,
    IntArrayRef blocksize,
    ScalarType index_dtype,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  constexpr const char* op = "sparse_compressed_tensor_with_dims";
  const Layout wanted = known_layout(layout);
  TORCH_CHECK(nnz >= 0, op, ": nnz must be non-negative, got ", nnz);
  TORCH_CHECK(dense_dim >= 0, op, ": dense_dim must be non-negative, got ", dense_dim);
  const auto dim = static_cast<int64_t>(size.size());
  TORCH_CHECK(
      dim - 2 >= dense_dim, op, ": dimensionality must be at least dense_dim(=", dense_dim,
      ") + sparse_dim(=2), but got ", dim);
  TORCH_CHECK(
      index_dtype == kInt || index_dtype == kLong, op, ": indices dtype must be Int or Long, but got ", index_dtype);
  at::detail::check_size_nonnegative(size);
  const IntArrayRef batch = size.slice(0, dim - 2 - dense_dim);
  std::array<int64_t, 2> blocks{size[batch.size()], size[batch.size() + 1]};
  if (is_blocked(wanted)) {
    TORCH_CHECK(blocksize.size() == 2, op, ": blocksize needs to be a tuple of size 2, but got ", blocksize.size());
    TORCH_CHECK(blocksize[0] > 0 && blocksize[1] > 0, op, ": blocksize needs to be positive, but got ", blocksize);
    for (size_t d = 0; d < 2; ++d) {
      TORCH_CHECK(
          blocks[d] % blocksize[d] == 0, op, ": dimension ", batch.size() + d, " must be multiple of blocksize[", d,
          "](=", blocksize[d], ") but got ", blocks[d]);
      blocks[d] /= blocksize[d];
    }
  } else {
    TORCH_CHECK(blocksize.empty(), op, ": blocksize cannot be specified for non-block layout ", wanted);
  }
  const int64_t lines = blocks[is_row_compressed(wanted) ? 0 : 1];
  const int64_t count = blocks[is_row_compressed(wanted) ? 1 : 0];
  TORCH_CHECK(
      lines < std::numeric_limits<int64_t>::max(), op, ": a matrix of ", lines, " compressed lines is too large");
  int64_t places = 0;
  TORCH_CHECK(
      c10::mul_overflows(lines, count, &places) || nnz <= places, op, ": nnz must be at most ", places,
      ", the number of elements or blocks in a matrix of size ", size.slice(batch.size(), 2), ", got ", nnz);
  TORCH_CHECK(
      index_dtype == kLong || nnz <= std::numeric_limits<int32_t>::max(), op, ": ", nnz,
      " places need indices of dtype Long, got Int");

  // The first lines are full, one has what is left, and the others are empty.
  const int64_t full = count == 0 ? 0 : nnz / count;
  const TensorOptions longs = TensorOptions(kLong).device(device);
  const auto of_each_batch = [&](const Tensor& indices) {
    DimVector sizes(batch);
    sizes.push_back(indices.numel());
    return indices.to(index_dtype).expand(sizes).contiguous();
  };
  const Tensor compressed =
      at::arange(lines + 1, longs).clamp_max_(full + 1).mul_(std::min(count, nnz)).clamp_max_(nnz);
  const Tensor plain = at::arange(nnz, longs).remainder_(std::max<int64_t>(count, 1));
  DimVector value_sizes(batch);
  value_sizes.push_back(nnz);
  value_sizes.append(blocksize.begin(), blocksize.end());
  value_sizes.append(size.end() - dense_dim, size.end());
  const Tensor values = at::zeros(value_sizes, TensorOptions().dtype(dtype).device(device).pinned_memory(pin_memory));
  return at::_sparse_compressed_tensor_unsafe(
      of_each_batch(compressed), of_each_batch(plain), values, size, dtype, wanted, device, pin_memory);
}

Tensor sparse_compressed_tensor_size(
    const Tensor& compressed_indices,
    const Tensor& plain_indices,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return at::_sparse_compressed_tensor_unsafe(
      compressed_indices, plain_indices, values, size, dtype, known_layout(layout), device, pin_memory);
}

Tensor sparse_compressed_tensor(
    const Tensor& compressed_indices,
    const Tensor& plain_indices,
    const Tensor& values,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  const DimVector sizes = guessed_size(compressed_indices, plain_indices, values, known_layout(layout));
  return at::native::sparse_compressed_tensor_size(
      compressed_indices, plain_indices, values, sizes, dtype, layout, device, pin_memory);
}

namespace {

Tensor of_layout(
    Layout wanted,
    const Tensor& compressed,
    const Tensor& plain,
    const Tensor& values,
    OptionalIntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  TORCH_CHECK(
      layout.value_or(wanted) == wanted, "sparse tensor layout must be ", wanted, " but got ", layout.value_or(wanted));
  return size.has_value()
      ? at::native::sparse_compressed_tensor_size(compressed, plain, values, *size, dtype, wanted, device, pin_memory)
      : at::native::sparse_compressed_tensor(compressed, plain, values, dtype, wanted, device, pin_memory);
}

} // namespace

Tensor sparse_csr_tensor(
    const Tensor& crow,
    const Tensor& col,
    const Tensor& values,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return of_layout(kSparseCsr, crow, col, values, std::nullopt, dtype, layout, device, pin_memory);
}
Tensor sparse_csr_tensor_size(
    const Tensor& crow,
    const Tensor& col,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return of_layout(kSparseCsr, crow, col, values, size, dtype, layout, device, pin_memory);
}
Tensor sparse_csc_tensor(
    const Tensor& ccol,
    const Tensor& row,
    const Tensor& values,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return of_layout(kSparseCsc, ccol, row, values, std::nullopt, dtype, layout, device, pin_memory);
}
Tensor sparse_csc_tensor_size(
    const Tensor& ccol,
    const Tensor& row,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return of_layout(kSparseCsc, ccol, row, values, size, dtype, layout, device, pin_memory);
}
Tensor sparse_bsr_tensor(
    const Tensor& crow,
    const Tensor& col,
    const Tensor& values,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return of_layout(kSparseBsr, crow, col, values, std::nullopt, dtype, layout, device, pin_memory);
}
Tensor sparse_bsr_tensor_size(
    const Tensor& crow,
    const Tensor& col,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return of_layout(kSparseBsr, crow, col, values, size, dtype, layout, device, pin_memory);
}
Tensor sparse_bsc_tensor(
    const Tensor& ccol,
    const Tensor& row,
    const Tensor& values,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return of_layout(kSparseBsc, ccol, row, values, std::nullopt, dtype, layout, device, pin_memory);
}
Tensor sparse_bsc_tensor_size(
    const Tensor& ccol,
    const Tensor& row,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return of_layout(kSparseBsc, ccol, row, values, size, dtype, layout, device, pin_memory);
}

// ---- parts -----------------------------------------------------------------------------

Tensor values_compressed(const Tensor& self) {
  return compressed_impl(self)->values().alias();
}

namespace {

[[noreturn]] void wrong_layout(const char* op, const char* what, Layout layout) {
  TORCH_CHECK(false, op, " expected sparse ", what, " compressed tensor layout but got ", layout);
}

} // namespace

Tensor crow_indices_compressed(const Tensor& self) {
  return is_row_compressed(self.layout()) ? compressed_impl(self)->compressed_indices().alias()
                                          : (wrong_layout("crow_indices", "row", self.layout()), Tensor());
}
Tensor col_indices_compressed(const Tensor& self) {
  return is_row_compressed(self.layout()) ? compressed_impl(self)->plain_indices().alias()
                                          : (wrong_layout("col_indices", "row", self.layout()), Tensor());
}
Tensor ccol_indices_compressed(const Tensor& self) {
  return is_row_compressed(self.layout()) ? (wrong_layout("ccol_indices", "column", self.layout()), Tensor())
                                          : compressed_impl(self)->compressed_indices().alias();
}
Tensor row_indices_compressed(const Tensor& self) {
  return is_row_compressed(self.layout()) ? (wrong_layout("row_indices", "column", self.layout()), Tensor())
                                          : compressed_impl(self)->plain_indices().alias();
}
Tensor crow_indices_of_strided(const Tensor& self) {
  wrong_layout("crow_indices", "row", self.layout());
}
Tensor col_indices_of_strided(const Tensor& self) {
  wrong_layout("col_indices", "row", self.layout());
}
Tensor ccol_indices_of_strided(const Tensor& self) {
  wrong_layout("ccol_indices", "column", self.layout());
}
Tensor row_indices_of_strided(const Tensor& self) {
  wrong_layout("row_indices", "column", self.layout());
}

// ---- size, contents --------------------------------------------------------------------

Tensor& sparse_resize_and_clear_compressed_(Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  compressed_impl(self)->resize_and_clear_(sparse_dim, dense_dim, size);
  return self;
}

Tensor& zero_compressed_(Tensor& self) {
  const int64_t dense = compressed_impl(self)->dense_dim();
  compressed_impl(self)->resize_and_clear_(self.dim() - dense, dense, self.sizes());
  return self;
}

Tensor& resize_compressed_(Tensor& self, IntArrayRef size, std::optional<MemoryFormat>) {
  TORCH_CHECK(
      size.size() >= 2 && compressed_impl(self)->dense_dim() == 0,
      "torch.resize_: Only batched sparse CSR matrices are supported, but got size ", size);
  compressed_impl(self)->resize_and_clear_(static_cast<int64_t>(size.size()), 0, size);
  return self;
}

Tensor& copy_compressed_(Tensor& self, const Tensor& src, bool non_blocking) {
  TORCH_CHECK(
      self.layout() == src.layout(),
      "copy of sparse compressed tensors having different layouts is not supported. self layout is ", self.layout(),
      " and src layout is ", src.layout());
  TORCH_CHECK(
      self.sizes() == src.sizes(),
      "copy_: only sparse compressed tensors with the same number of specified elements are supported; got sizes ",
      self.sizes(), " and ", src.sizes());
  const SparseCsrTensorImpl* from = compressed_impl(src);
  const Tensor values = from->values().to(self.device(), self.scalar_type(), non_blocking, /*copy=*/true);
  compressed_impl(self)->set_member_tensors(
      from->compressed_indices().clone(), from->plain_indices().clone(), values, src.sizes());
  return self;
}

Tensor& resize_as_sparse_compressed_(Tensor& self, const Tensor& the_template) {
  TORCH_CHECK(
      self.layout() == the_template.layout(),
      "resize_as_sparse_compressed_tensor_: self and src must have the same layout, but got: self (", self.layout(),
      ") and source (", the_template.layout(), ")");
  const SparseCsrTensorImpl* from = compressed_impl(the_template);
  compressed_impl(self)->set_member_tensors(
      from->compressed_indices().clone(), from->plain_indices().clone(),
      at::empty_like(from->values(), self.options().layout(kStrided)), the_template.sizes());
  return self;
}

Tensor clone_compressed(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(
      memory_format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve, "unsupported memory format option ",
      memory_format.value_or(MemoryFormat::Preserve));
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  return make_compressed(
      self.layout(), self.sizes(), impl->compressed_indices().clone(), impl->plain_indices().clone(),
      impl->values().clone());
}

Tensor _to_copy_compressed(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool,
    bool non_blocking,
    std::optional<MemoryFormat>) {
  TORCH_CHECK(
      layout.value_or(self.layout()) == self.layout(),
      "to(options) doesn't support converting to a different layout, but got self.layout being ", self.layout(),
      " and options.layout set as ", layout.value_or(self.layout()));
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  const Device place = device.value_or(self.device());
  const auto copied = [&](const Tensor& indices) {
    return indices.to(place, indices.scalar_type(), non_blocking, /*copy=*/true);
  };
  return make_compressed(
      self.layout(), self.sizes(), copied(impl->compressed_indices()), copied(impl->plain_indices()),
      impl->values().to(place, dtype.value_or(self.scalar_type()), non_blocking, /*copy=*/true));
}

Tensor empty_compressed(
    IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool, std::optional<MemoryFormat>) {
  const Layout wanted = known_layout(layout);
  TORCH_CHECK(
      !is_blocked(wanted), "empty_sparse_compressed expected sparse compressed (non-block) tensor layout but got ",
      wanted);
  TORCH_CHECK(
      size.size() >= 2, "torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size ",
      size);
  const Device place = at::empty({0}, c10::TensorOptions(device.value_or(kCPU))).device(); // with its number
  const c10::OptionalDeviceGuard guard(place);
  Tensor result = at::detail::make_tensor<SparseCsrTensorImpl>(
      compressed_key(place), place, wanted,
      c10::scalarTypeToTypeMeta(dtype.value_or(c10::get_default_dtype_as_scalartype())));
  compressed_impl(result)->resize_and_clear_(static_cast<int64_t>(size.size()), 0, size);
  return result;
}

Tensor empty_like_compressed(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    std::optional<MemoryFormat>) {
  const Layout wanted = layout.value_or(self.layout());
  const c10::TensorOptions options = self.options()
                                         .dtype(dtype.value_or(self.scalar_type()))
                                         .device(device.value_or(self.device()))
                                         .pinned_memory(pin_memory);
  if (wanted != self.layout()) {
    return at::empty(self.sizes(), options.layout(wanted));
  }
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  return make_compressed(
      wanted, self.sizes(), impl->compressed_indices().clone(), impl->plain_indices().clone(),
      at::empty(impl->values().sizes(), options.layout(kStrided)));
}

Tensor zeros_like_compressed(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    std::optional<MemoryFormat> format) {
  return at::native::empty_like_compressed(self, dtype, layout, device, pin_memory, format).zero_();
}

Tensor& fill_compressed_(Tensor& self, const Scalar& value) {
  Tensor values = compressed_impl(self)->values();
  values.fill_(value);
  return self;
}

// ---- without a look at the members -----------------------------------------------------------

namespace {

Tensor unsafe_of_layout(
    Layout wanted,
    const Tensor& compressed,
    const Tensor& plain,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  TORCH_CHECK(
      layout.value_or(wanted) == wanted, "sparse tensor layout must be ", wanted, " but got ", layout.value_or(wanted));
  return at::_sparse_compressed_tensor_unsafe(compressed, plain, values, size, dtype, wanted, device, pin_memory);
}

} // namespace

Tensor _sparse_csr_tensor_unsafe(
    const Tensor& crow,
    const Tensor& col,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return unsafe_of_layout(kSparseCsr, crow, col, values, size, dtype, layout, device, pin_memory);
}
Tensor _sparse_csc_tensor_unsafe(
    const Tensor& ccol,
    const Tensor& row,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return unsafe_of_layout(kSparseCsc, ccol, row, values, size, dtype, layout, device, pin_memory);
}
Tensor _sparse_bsr_tensor_unsafe(
    const Tensor& crow,
    const Tensor& col,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return unsafe_of_layout(kSparseBsr, crow, col, values, size, dtype, layout, device, pin_memory);
}
Tensor _sparse_bsc_tensor_unsafe(
    const Tensor& ccol,
    const Tensor& row,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return unsafe_of_layout(kSparseBsc, ccol, row, values, size, dtype, layout, device, pin_memory);
}

} // namespace at::native
