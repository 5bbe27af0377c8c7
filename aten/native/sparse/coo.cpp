// Coordinate tensors: making, checking and taking apart.
#include <aten/native/sparse/coo.h>

#include <aten/Functions.h>
#include <aten/native/sparse/compressed.h>
#include <aten/native/sparse/device_kernels.h>
#include <aten/native/support/index_rows.h>
#include <aten/sparse/SparseCsrTensorImpl.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>

namespace at::native {

using c10::DimVector;

namespace {

using OptDtype = std::optional<ScalarType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;

void check_layout(const char* op, OptLayout layout) {
  TORCH_CHECK(
      layout.value_or(kSparse) == kSparse, "expected sparse layout, but got layout ", layout.value_or(kSparse), " (in ",
      op, ")");
}

Tensor new_coo(ScalarType dtype, Device device) {
  const c10::TensorOptions options = c10::TensorOptions(kSparse).device(device);
  TORCH_CHECK_NOT_IMPLEMENTED(
      device.is_cpu() || device.is_cuda(), "sparse tensors are on the CPU and on CUDA devices, got device ", device);
  const c10::OptionalDeviceGuard guard(device.has_index() ? std::optional(device) : std::nullopt);
  return at::detail::make_tensor<SparseTensorImpl>(
      c10::DispatchKeySet(options.computeDispatchKey()), c10::scalarTypeToTypeMeta(dtype));
}

/// Values without dimensions are those of a single element.
Tensor with_nnz(const Tensor& values) {
  return values.dim() == 0 ? values.unsqueeze(0) : values;
}

void check_members(const Tensor& indices, const Tensor& values) {
  TORCH_CHECK(
      indices.defined() && values.defined() && indices.layout() == kStrided && values.layout() == kStrided,
      "sparse_coo_tensor: indices and values must be strided tensors");
  TORCH_CHECK(indices.dim() == 2, "indices must be sparse_dim x nnz, but got: ", indices.sizes());
  TORCH_CHECK(
      !c10::isFloatingType(indices.scalar_type()) && !c10::isComplexType(indices.scalar_type()) &&
          indices.scalar_type() != kBool,
      "indices must be an integral tensor, but got ", indices.scalar_type());
}

} // namespace

Tensor make_coo(IntArrayRef sizes, const Tensor& indices, const Tensor& values, bool coalesced) {
  Tensor result = new_coo(values.scalar_type(), values.device());
  SparseTensorImpl* impl = get_sparse_impl(result);
  TORCH_CHECK(indices.dim() == 2, "indices must be sparse_dim x nnz, but got: ", indices.sizes());
  impl->raw_resize_(indices.size(0), static_cast<int64_t>(sizes.size()) - indices.size(0), sizes);
  impl->set_indices_and_values_unsafe(indices, values);
  impl->set_coalesced(coalesced || values.size(0) < 2);
  return result;
}

Tensor int64_tensor(IntArrayRef list, Device device) {
  Tensor result = at::empty({static_cast<int64_t>(list.size())}, c10::TensorOptions(kLong));
  std::copy(list.begin(), list.end(), result.mutable_data_ptr<int64_t>());
  return device.is_cpu() ? result : result.to(device);
}

void check_places(const Tensor& row, int64_t size, const char* what) {
  if (row.numel() == 0) {
    return;
  }
  if (sparse_kernels(row) != nullptr) {
    const auto [least, greatest] = at::aminmax(row);
    const int64_t low = least.item<int64_t>(), high = greatest.item<int64_t>();
    TORCH_CHECK_INDEX(
        low >= 0 && high < size, "a sparse matrix with ", size, " ", what, " cannot have an element in number ",
        low < 0 ? low : high);
    return;
  }
  const Tensor places = row.contiguous();
  const int64_t* index = places.const_data_ptr<int64_t>();
  if (!any_index_outside(index, places.numel(), size)) {
    return;
  }
  for (int64_t i = 0; i < places.numel(); ++i) {
    TORCH_CHECK_INDEX(
        index[i] >= 0 && index[i] < size, "a sparse matrix with ", size, " ", what,
        " cannot have an element in number ", index[i]);
  }
}

Tensor row_starts(const Tensor& rows_, int64_t count) {
  const Tensor rows = rows_.contiguous();
  if (sparse_kernels(rows) == nullptr) {
    return at::sparse::coo_to_csr(rows.const_data_ptr<int64_t>(), count, rows.numel());
  }
  check_places(rows, count, "rows");
  return at::searchsorted(rows, at::arange(count + 1, rows.options()));
}

void check_coo(const char* op, const char* name, const Tensor& t) {
  TORCH_CHECK(t.is_sparse(), op, ": expected '", name, "' to be a sparse tensor, but got layout ", t.layout());
}

int64_t block_size(const Tensor& self) {
  const SparseTensorImpl* impl = get_sparse_impl(self);
  int64_t block = 1;
  for (const int64_t size : self.sizes().slice(impl->sparse_dim())) {
    block *= size;
  }
  return block;
}

// ---- checks ----------------------------------------------------------------------------

void _validate_sparse_coo_tensor_args(
    const Tensor& indices, const Tensor& values_, IntArrayRef size, OptBool is_coalesced, OptBool /*check_pinning*/) {
  check_members(indices, values_);
  const Tensor values = with_nnz(values_);
  const int64_t sparse_dim = indices.size(0);
  const int64_t dense_dim = values.dim() - 1;
  TORCH_CHECK(
      sparse_dim + dense_dim == static_cast<int64_t>(size.size()),
      "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
      ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
  TORCH_CHECK(
      indices.size(1) == values.size(0),
      "indices and values must have same nnz, but got nnz from indices: ", indices.size(1),
      ", nnz from values: ", values.size(0));
  DimVector expected{values.size(0)};
  expected.append(size.begin() + sparse_dim, size.end());
  TORCH_CHECK(
      values.sizes() == IntArrayRef(expected), "values has incorrect size, expected ", IntArrayRef(expected), ", got ",
      values.sizes());
  const Tensor places = indices.to(kCPU, kLong).resolve_neg().contiguous();
  const int64_t nnz = places.size(1);
  const int64_t* place = places.const_data_ptr<int64_t>();
  for (int64_t dim = 0; dim < sparse_dim; ++dim) {
    for (int64_t i = 0; i < nnz; ++i) {
      const int64_t index = place[dim * nnz + i];
      TORCH_CHECK(index >= 0, "found negative index ", index, " for dim ", dim);
      TORCH_CHECK(
          index < size[dim], "size is inconsistent with indices: for dim ", dim, ", size is ", size[dim],
          " but found index ", index);
    }
  }
  if (is_coalesced.value_or(false) && nnz > 1) {
    const auto before = [&](int64_t i, int64_t j) {
      for (int64_t dim = 0; dim < sparse_dim; ++dim) {
        const int64_t a = place[dim * nnz + i];
        const int64_t b = place[dim * nnz + j];
        if (a != b) {
          return a < b;
        }
      }
      return false;
    };
    for (int64_t i = 0; i + 1 < nnz; ++i) {
      TORCH_CHECK(before(i, i + 1), "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor");
    }
  }
}

// ---- factories -------------------------------------------------------------------------

Tensor _sparse_coo_tensor_with_dims(
    int64_t sparse_dim,
    int64_t dense_dim,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool) {
  check_layout("_sparse_coo_tensor_with_dims", layout);
  Tensor result = new_coo(dtype.value_or(c10::get_default_dtype_as_scalartype()), device.value_or(kCPU));
  get_sparse_impl(result)->resize_and_clear_(sparse_dim, dense_dim, size);
  get_sparse_impl(result)->set_coalesced(true);
  return result;
}

Tensor _sparse_coo_tensor_with_dims_and_tensors(
    int64_t sparse_dim,
    int64_t dense_dim,
    IntArrayRef size,
    const Tensor& indices,
    const Tensor& values,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool,
    OptBool is_coalesced) {
  check_layout("_sparse_coo_tensor_with_dims_and_tensors", layout);
  Tensor result = new_coo(dtype.value_or(values.scalar_type()), device.value_or(values.device()));
  SparseTensorImpl* impl = get_sparse_impl(result);
  impl->raw_resize_(sparse_dim, dense_dim, size);
  impl->set_indices_and_values_unsafe(
      sparse_member(indices),
      sparse_member(values.scalar_type() == result.scalar_type() ? values : values.to(result.scalar_type())));
  impl->set_coalesced(is_coalesced.value_or(false) || values.size(0) < 2);
  return result;
}

Tensor sparse_coo_tensor_size(
    IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  check_layout("sparse_coo_tensor", layout);
  return at::_sparse_coo_tensor_with_dims(
      static_cast<int64_t>(size.size()), 0, size, dtype, kSparse, device, pin_memory);
}

Tensor& sparse_coo_tensor_size_out(IntArrayRef size, Tensor& out) {
  check_coo("sparse_coo_tensor", "out", out);
  return const_cast<Tensor&>(out.sparse_resize_and_clear_(size, static_cast<int64_t>(size.size()), 0));
}

Tensor _sparse_coo_tensor_unsafe(
    const Tensor& indices,
    const Tensor& values_,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptBool is_coalesced) {
  check_members(indices, values_);
  const Tensor values = with_nnz(values_);
  TORCH_CHECK(
      static_cast<int64_t>(size.size()) >= indices.size(0),
      "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
      ", sparse_dim = ", indices.size(0), ", dense_dim = ", values.dim() - 1);
  TORCH_CHECK(
      indices.size(0) + values.dim() - 1 == static_cast<int64_t>(size.size()),
      "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
      ", sparse_dim = ", indices.size(0), ", dense_dim = ", values.dim() - 1);
  return at::_sparse_coo_tensor_with_dims_and_tensors(
      indices.size(0), values.dim() - 1, size, indices.to(kLong), values.to(dtype.value_or(values.scalar_type())),
      dtype.value_or(values.scalar_type()), layout, device, pin_memory, is_coalesced);
}

Tensor sparse_coo_tensor_indices_size(
    const Tensor& indices,
    const Tensor& values,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptBool is_coalesced) {
  check_layout("sparse_coo_tensor", layout);
  at::native::_validate_sparse_coo_tensor_args(indices, values, size, is_coalesced, std::nullopt);
  return at::_sparse_coo_tensor_unsafe(indices, values, size, dtype, kSparse, device, pin_memory, is_coalesced);
}

Tensor sparse_coo_tensor_indices(
    const Tensor& indices,
    const Tensor& values_,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptBool is_coalesced) {
  check_layout("sparse_coo_tensor", layout);
  check_members(indices, values_);
  const Tensor values = with_nnz(values_);
  DimVector sizes(indices.size(0) + values.dim() - 1);
  const Tensor places = indices.to(kCPU, kLong).resolve_neg().contiguous();
  const int64_t nnz = places.size(1);
  const int64_t* place = places.const_data_ptr<int64_t>();
  for (int64_t dim = 0; dim < indices.size(0); ++dim) {
    int64_t greatest = -1;
    for (int64_t i = 0; i < nnz; ++i) {
      const int64_t index = place[dim * nnz + i];
      TORCH_CHECK(index >= 0, "found negative index ", index, " for dim ", dim);
      greatest = std::max(greatest, index);
    }
    TORCH_CHECK(
        !c10::add_overflows(greatest, int64_t{1}, &sizes[dim]), "index ", greatest, " of dim ", dim, " is too large");
  }
  for (int64_t dim = 1; dim < values.dim(); ++dim) {
    sizes[indices.size(0) + dim - 1] = values.size(dim);
  }
  return at::native::sparse_coo_tensor_indices_size(
      indices, values, sizes, dtype, layout, device, pin_memory, is_coalesced);
}

// ---- parts -----------------------------------------------------------------------------

int64_t sparse_dim(const Tensor& self) {
  return self.is_sparse()   ? get_sparse_impl(self)->sparse_dim()
      : is_compressed(self) ? compressed_impl(self)->sparse_dim()
                            : 0;
}

int64_t dense_dim(const Tensor& self) {
  return self.is_sparse()   ? get_sparse_impl(self)->dense_dim()
      : is_compressed(self) ? compressed_impl(self)->dense_dim()
                            : self.dim();
}

int64_t _dimI(const Tensor& self) {
  check_coo("_dimI", "self", self);
  return get_sparse_impl(self)->sparse_dim();
}

int64_t _dimV(const Tensor& self) {
  check_coo("_dimV", "self", self);
  return get_sparse_impl(self)->dense_dim();
}

int64_t _nnz(const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      self.is_sparse() || is_compressed(self), "_nnz expected sparse tensor layout but got ", self.layout());
  return self.is_sparse() ? get_sparse_impl(self)->nnz() : compressed_impl(self)->nnz();
}

bool is_coalesced(const Tensor& self) {
  TORCH_CHECK(self.is_sparse(), "is_coalesced expected sparse coordinate tensor layout but got ", self.layout());
  return get_sparse_impl(self)->coalesced();
}

Tensor coalesce(const Tensor& self) {
  TORCH_CHECK(self.is_sparse(), "coalesce expected sparse coordinate tensor layout but got ", self.layout());
  return get_sparse_impl(self)->coalesced() ? self : at::_coalesce(self);
}

Tensor indices_of_strided(const Tensor& self) {
  TORCH_CHECK(false, "indices expected sparse coordinate tensor layout but got ", self.layout());
}

Tensor values_of_strided(const Tensor& self) {
  TORCH_CHECK(false, "values expected sparse tensor layout but got ", self.layout());
}

Tensor _indices_coo(const Tensor& self) {
  return get_sparse_impl(self)->indices();
}

Tensor _values_coo(const Tensor& self) {
  return get_sparse_impl(self)->values();
}

Tensor indices_coo(const Tensor& self) {
  TORCH_CHECK(
      get_sparse_impl(self)->coalesced(), "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  return get_sparse_impl(self)->indices().alias();
}

Tensor values_coo(const Tensor& self) {
  TORCH_CHECK(
      get_sparse_impl(self)->coalesced(), "Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  return get_sparse_impl(self)->values().alias();
}

Tensor& _coalesced_coo_(Tensor& self, bool coalesced) {
  get_sparse_impl(self)->set_coalesced(coalesced);
  return self;
}

// ---- size, contents --------------------------------------------------------------------

Tensor& sparse_resize_coo_(Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  get_sparse_impl(self)->resize_(sparse_dim, dense_dim, size);
  return self;
}

Tensor& sparse_resize_and_clear_coo_(Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  get_sparse_impl(self)->resize_and_clear_(sparse_dim, dense_dim, size);
  get_sparse_impl(self)->set_coalesced(true);
  return self;
}

Tensor& resize_as_sparse_coo_(Tensor& self, const Tensor& the_template) {
  check_coo("resize_as_sparse_", "self", self);
  check_coo("resize_as_sparse_", "the_template", the_template);
  const SparseTensorImpl* wanted = get_sparse_impl(the_template);
  if (self.sizes() != the_template.sizes() || get_sparse_impl(self)->sparse_dim() != wanted->sparse_dim()) {
    get_sparse_impl(self)->resize_(wanted->sparse_dim(), wanted->dense_dim(), the_template.sizes());
  }
  return self;
}

Tensor& resize_as_coo_(Tensor& self, const Tensor& the_template, std::optional<MemoryFormat>) {
  return at::native::resize_as_sparse_coo_(self, the_template);
}

Tensor& copy_sparse_to_sparse_(Tensor& self, const Tensor& src, bool non_blocking) {
  check_coo("copy_sparse_to_sparse_", "self", self);
  check_coo("copy_sparse_to_sparse_", "src", src);
  if (self.is_same(src)) {
    return self;
  }
  const SparseTensorImpl* from = get_sparse_impl(src);
  const Tensor indices = from->indices().to(self.device(), kLong, non_blocking, /*copy=*/true);
  const Tensor values = from->values().to(self.device(), self.scalar_type(), non_blocking, /*copy=*/true);
  SparseTensorImpl* impl = get_sparse_impl(self);
  impl->raw_resize_(from->sparse_dim(), from->dense_dim(), src.sizes());
  impl->set_indices_and_values_unsafe(indices, values);
  impl->set_coalesced(from->coalesced());
  return self;
}

Tensor& copy_coo_(Tensor& self, const Tensor& src, bool non_blocking) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      self.is_sparse() && src.is_sparse(),
      "copy_() between dense and sparse Tensors is not implemented! Found self type = ", self.toString(),
      " and src type = ", src.toString());
  return at::native::copy_sparse_to_sparse_(self, src, non_blocking);
}

Tensor clone_coo(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(
      memory_format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve, "unsupported memory format option ",
      memory_format.value_or(MemoryFormat::Preserve));
  const SparseTensorImpl* impl = get_sparse_impl(self);
  return make_coo(self.sizes(), impl->indices().clone(), impl->values().clone(), impl->coalesced());
}

Tensor detach_sparse(const Tensor& self) {
  return sparse_member(self);
}

Tensor& zero_coo_(Tensor& self) {
  const SparseTensorImpl* impl = get_sparse_impl(self);
  return at::native::sparse_resize_and_clear_coo_(self, self.sizes(), impl->sparse_dim(), impl->dense_dim());
}

Tensor empty_coo(
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    std::optional<MemoryFormat> format) {
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
  TORCH_CHECK(
      !format || *format == MemoryFormat::Preserve || *format == MemoryFormat::Contiguous,
      "unsupported memory format option ", format.value_or(MemoryFormat::Preserve));
  return at::native::_sparse_coo_tensor_with_dims(
      static_cast<int64_t>(size.size()), 0, size, dtype, layout, device, pin_memory);
}

Tensor empty_like_coo(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    std::optional<MemoryFormat> format) {
  const Layout wanted = layout.value_or(self.layout());
  const c10::TensorOptions options = self.options()
                                         .dtype(dtype.value_or(self.scalar_type()))
                                         .layout(wanted)
                                         .device(device.value_or(self.device()))
                                         .pinned_memory(pin_memory);
  if (wanted != kSparse || !self.is_sparse()) {
    return at::empty(self.sizes(), options, format == MemoryFormat::Preserve ? std::nullopt : format);
  }
  return at::_sparse_coo_tensor_with_dims(
      get_sparse_impl(self)->sparse_dim(), get_sparse_impl(self)->dense_dim(), self.sizes(), options);
}

Tensor zeros_like_coo(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    std::optional<MemoryFormat> format) {
  return at::native::empty_like_coo(self, dtype, layout, device, pin_memory, format).zero_();
}

Tensor _to_copy_coo(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool,
    bool non_blocking,
    std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(
      layout.value_or(kSparse) == kSparse,
      "to(options) doesn't support converting to a different layout, but got self.layout being ", self.layout(),
      " and options.layout set as ", layout.value_or(kSparse));
  TORCH_CHECK(
      memory_format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve,
      "to(options): COO only supports memory format Preserve, but got ", memory_format.value_or(MemoryFormat::Preserve),
      " instead.");
  const SparseTensorImpl* impl = get_sparse_impl(self);
  const Device place = device.value_or(self.device());
  return make_coo(
      self.sizes(), impl->indices().to(place, kLong, non_blocking, /*copy=*/true),
      impl->values().to(place, dtype.value_or(self.scalar_type()), non_blocking, /*copy=*/true), impl->coalesced());
}

} // namespace at::native
