// A handle to a TensorImpl with everything that needs no operator: sizes,
// dtype, device, data, key set, and the autograd fields reached through hooks.
// Kernels see this type only, so that the list of operators stays out of them.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/Storage.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/ExclusivelyOwned.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/intrusive_ptr.h>

#include <aten/core/NamedTensor.h>
#include <aten/core/TensorAccessor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace c10 {
class Scalar;
}

namespace torch::autograd {
struct Node;
}

namespace at {

class Tensor;
class TensorBase;
class Context;
struct Generator;

/// Whether an implementation of view-like operators may be named by type: the default is every tensor.
inline bool variable_excluded_from_dispatch() {
  return c10::impl::tls_local_dispatch_key_set().excluded_.isSupersetOf(c10::autograd_dispatch_keyset);
}

namespace detail {
[[noreturn]] TORCH_API void throw_wrong_scalar_type(c10::ScalarType expected, c10::ScalarType actual);
[[noreturn]] TORCH_API void throw_wrong_accessor_rank(int64_t expected, int64_t actual);
[[noreturn]] TORCH_API void throw_packed32_too_large();
} // namespace detail

class TORCH_API TensorBase {
 public:
  struct unsafe_borrow_t {
    explicit unsafe_borrow_t() = default;
  };

  using ImplPtr = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

  TensorBase() = default;
  /// Takes over a pointer, not null, whose count already includes this owner.
  explicit TensorBase(c10::TensorImpl* owned, c10::raw::DontIncreaseRefcount tag) noexcept : impl_(owned, tag) {}
  explicit TensorBase(ImplPtr tensor_impl) : impl_(std::move(tensor_impl)) {
    if (C10_UNLIKELY(impl_.get() == nullptr)) {
      throw std::runtime_error("TensorImpl with nullptr is not supported");
    }
  }
  TensorBase(const TensorBase&) = default;
  TensorBase(TensorBase&&) noexcept = default;
  TensorBase& operator=(const TensorBase&) & = default;
  TensorBase& operator=(TensorBase&&) & noexcept = default;
  TensorBase& operator=(const TensorBase&) && = delete;
  TensorBase& operator=(TensorBase&&) && noexcept = delete;
  ~TensorBase() = default;

  static TensorBase wrap_tensor_impl(ImplPtr tensor_impl) {
    return TensorBase(std::move(tensor_impl));
  }

  // ---- identity ----------------------------------------------------------
  bool defined() const {
    return static_cast<bool>(impl_);
  }
  void reset() {
    impl_.reset();
  }
  bool is_same(const TensorBase& other) const noexcept {
    return impl_ == other.impl_;
  }
  size_t use_count() const noexcept {
    return impl_.use_count();
  }
  size_t weak_use_count() const noexcept {
    return impl_.weak_use_count();
  }
  /// Is this handle the only one?
  bool is_uniquely_owned() const noexcept {
    return use_count() == 1;
  }
  c10::TensorImpl* unsafeGetTensorImpl() const {
    return impl_.get();
  }
  c10::TensorImpl* unsafeReleaseTensorImpl() {
    return impl_.release();
  }
  const ImplPtr& getIntrusivePtr() const {
    return impl_;
  }
  ImplPtr unsafeReleaseIntrusivePtr() {
    return std::move(impl_);
  }
  std::string toString() const;
  void print() const;

  // ---- sizes and strides -------------------------------------------------
  int64_t dim() const {
    return impl_->dim();
  }
  int64_t ndimension() const {
    return dim();
  }
  c10::IntArrayRef sizes() const {
    return impl_->sizes();
  }
  c10::IntArrayRef strides() const {
    return impl_->strides();
  }
  c10::SymIntArrayRef sym_sizes() const {
    return impl_->sym_sizes();
  }
  c10::SymIntArrayRef sym_strides() const {
    return impl_->sym_strides();
  }
  /// Size of dimension `dim`, which may be negative. Throws IndexError when out of range.
  int64_t size(int64_t dim) const {
    return impl_->size(dim);
  }
  int64_t stride(int64_t dim) const {
    return impl_->stride(dim);
  }
  c10::SymInt sym_size(int64_t dim) const {
    return impl_->sym_size(dim);
  }
  c10::SymInt sym_stride(int64_t dim) const {
    return c10::SymInt(impl_->stride(dim));
  }
  int64_t numel() const {
    return impl_->numel();
  }
  c10::SymInt sym_numel() const {
    return impl_->sym_numel();
  }
  int64_t storage_offset() const {
    return impl_->storage_offset();
  }
  c10::SymInt sym_storage_offset() const {
    return impl_->sym_storage_offset();
  }
  size_t itemsize() const {
    return impl_->itemsize();
  }
  int64_t element_size() const {
    return static_cast<int64_t>(impl_->itemsize());
  }
  size_t nbytes() const {
    return static_cast<size_t>(impl_->numel()) * impl_->itemsize();
  }
  c10::SymInt sym_nbytes() const {
    return c10::SymInt(static_cast<int64_t>(nbytes()));
  }
  bool is_contiguous(c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous) const {
    return impl_->is_contiguous(memory_format);
  }
  bool is_contiguous_or_false(c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous) const {
    return impl_->is_contiguous(memory_format);
  }
  c10::SymBool sym_is_contiguous(c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous) const {
    return is_contiguous(memory_format);
  }
  bool is_non_overlapping_and_dense() const {
    return impl_->is_non_overlapping_and_dense();
  }

  /// The memory format that `clone(MemoryFormat::Preserve)` would give.
  c10::MemoryFormat suggest_memory_format(bool channels_last_strides_exact_match = false) const;

  // ---- dtype, device, layout ---------------------------------------------
  c10::ScalarType scalar_type() const {
    return c10::typeMetaToScalarType(impl_->dtype());
  }
  caffe2::TypeMeta dtype() const {
    return impl_->dtype();
  }
  c10::Device device() const {
    return impl_->device();
  }
  int64_t get_device() const {
    return impl_->get_device();
  }
  c10::Layout layout() const {
    return impl_->layout();
  }
  c10::TensorOptions options() const {
    return c10::TensorOptions(dtype()).device(device()).layout(layout());
  }
  bool has_storage() const {
    return defined() && impl_->has_storage();
  }
  const c10::Storage& storage() const {
    return impl_->storage();
  }
  bool is_alias_of(const TensorBase& other) const {
    return impl_->storage().is_alias_of(other.storage());
  }
  bool is_complex() const {
    return at::isComplexType(scalar_type());
  }
  bool is_floating_point() const {
    return at::isFloatingType(scalar_type());
  }
  bool is_signed() const {
    return at::isSignedType(scalar_type());
  }
  c10::DispatchKeySet key_set() const {
    return impl_->key_set();
  }
  bool is_cpu() const {
    return impl_->is_cpu();
  }
  bool is_cuda() const {
    return impl_->is_cuda();
  }
  bool is_meta() const {
    return impl_->is_meta();
  }
  bool is_sparse() const {
    return impl_->is_sparse();
  }
  bool is_sparse_csr() const {
    return layout() == c10::kSparseCsr;
  }
  bool is_mkldnn() const {
    return layout() == c10::kMkldnn;
  }
  bool is_quantized() const {
    return c10::isQIntType(scalar_type());
  }
  bool is_privateuseone() const {
    return device().is_privateuseone();
  }
  bool is_hip() const {
    return device().is_hip();
  }
  bool is_xla() const {
    return device().is_xla();
  }
  bool is_xpu() const {
    return device().is_xpu();
  }
  bool is_mps() const {
    return device().is_mps();
  }
  bool is_hpu() const {
    return device().is_hpu();
  }
  bool is_ipu() const {
    return device().is_ipu();
  }
  bool is_vulkan() const {
    return device().is_vulkan();
  }
  bool is_metal() const {
    return device().is_metal();
  }
  bool is_lazy() const {
    return device().is_lazy();
  }
  bool is_mtia() const {
    return device().is_mtia();
  }
  bool is_maia() const {
    return device().is_maia();
  }
  bool is_ve() const {
    return device().is_ve();
  }
  bool is_nested() const {
    return impl_->key_set().has(c10::DispatchKey::NestedTensor);
  }
  bool is_inference() const {
    return impl_->is_inference();
  }
  bool is_conj() const {
    return impl_->key_set().has(c10::DispatchKey::Conjugate);
  }
  bool is_neg() const {
    return impl_->key_set().has(c10::DispatchKey::Negative);
  }
  bool _is_zerotensor() const {
    return impl_->key_set().has(c10::DispatchKey::ZeroTensor);
  }
  void _set_conj(bool conjugate) const {
    impl_->_set_conj(conjugate);
  }
  void _set_neg(bool negative) const {
    impl_->_set_neg(negative);
  }
  void _set_zero(bool zero) const {
    impl_->_set_zero(zero);
  }
  /// Whether a dimension has a name; false too where names are disregarded (NoNamesGuard).
  bool has_names() const {
    return impl::has_names(impl_.get());
  }
  /// The names, wildcards for dimensions that have none.
  DimnameList names() const {
    return impl::get_names(impl_.get());
  }
  std::optional<DimnameList> opt_names() const;

  // ---- data --------------------------------------------------------------
  void* data_ptr() const {
    return impl_->mutable_data();
  }
  void* mutable_data_ptr() const {
    return impl_->mutable_data();
  }
  const void* const_data_ptr() const {
    return impl_->data();
  }

  /// Pointer to the first element. Throws when `T` is not the tensor's dtype.
  template <typename T>
  T* data_ptr() const {
    check_scalar_type<std::remove_const_t<T>>();
    return static_cast<T*>(impl_->mutable_data());
  }
  template <typename T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <typename T>
  const std::remove_const_t<T>* const_data_ptr() const {
    check_scalar_type<std::remove_const_t<T>>();
    return static_cast<const std::remove_const_t<T>*>(impl_->data());
  }

  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    static_assert(N > 0, "accessor needs at least one dimension; use *data_ptr<T>() for a 0-dim tensor");
    check_accessor_rank(N);
    return TensorAccessor<T, N>(accessor_data<T>(), sizes().data(), strides().data());
  }
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;

  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> generic_packed_accessor() const& {
    static_assert(N > 0, "packed_accessor needs at least one dimension; use *data_ptr<T>() for a 0-dim tensor");
    check_accessor_rank(N);
    return GenericPackedTensorAccessor<T, N, PtrTraits, index_t>(
        static_cast<typename PtrTraits<T>::PtrType>(accessor_data<T>()), sizes().data(), strides().data());
  }
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
  GenericPackedTensorAccessor<T, N> generic_packed_accessor() && = delete;

  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    if (C10_UNLIKELY(numel() > static_cast<int64_t>(INT32_MAX))) {
      detail::throw_packed32_too_large();
    }
    return generic_packed_accessor<T, N, PtrTraits, int32_t>();
  }
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() && = delete;

  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    return generic_packed_accessor<T, N, PtrTraits, int64_t>();
  }
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() && = delete;

  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
  [[deprecated("use packed_accessor32 or packed_accessor64")]] GenericPackedTensorAccessor<T, N, PtrTraits, index_t>
  packed_accessor() const& {
    return generic_packed_accessor<T, N, PtrTraits, index_t>();
  }

  /// A contiguous tensor with these values: itself when it is one already.
  TensorBase contiguous(c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous) const {
    return is_contiguous(memory_format) ? *this : contiguous_copy(memory_format);
  }
  c10::MaybeOwned<TensorBase> expect_contiguous(c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous) const&;
  c10::MaybeOwned<TensorBase> expect_contiguous(c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous) && =
      delete;
  TensorBase to(
      c10::TensorOptions options = {},
      bool non_blocking = false,
      bool copy = false,
      std::optional<c10::MemoryFormat> memory_format = std::nullopt) const;
  const TensorBase& fill_(const c10::Scalar& value) const;
  const TensorBase& zero_() const;

  // ---- autograd ----------------------------------------------------------
  bool requires_grad() const {
    return impl_->requires_grad();
  }
  const TensorBase& set_requires_grad(bool requires_grad) const {
    impl_->set_requires_grad(requires_grad);
    return *this;
  }
  bool is_leaf() const;
  int64_t output_nr() const;
  void set_data(const TensorBase& new_data) const;
  TensorBase data() const;
  int64_t _version() const;
  void retain_grad() const;
  bool retains_grad() const;
  const TensorBase& requires_grad_(bool requires_grad = true) const;
  TensorBase tensor_data() const;
  TensorBase variable_data() const;
  const std::shared_ptr<torch::autograd::Node>& grad_fn() const;
  const std::string& name() const;
  bool is_view() const;
  const TensorBase& _base() const;
  void remove_hook(unsigned pos) const;
  /// The tangent at a level of forward mode, which no tensor has here: undefined.
  const TensorBase& _fw_grad(uint64_t level) const;
  /// Throws: gradients are computed in reverse mode alone.
  void _set_fw_grad(const TensorBase& new_grad, uint64_t level, bool is_inplace_op) const;

  template <typename T>
  using hook_return_void_t = std::enable_if_t<std::is_void_v<std::invoke_result_t<T&, TensorBase>>, unsigned>;
  template <typename T>
  using hook_return_var_t =
      std::enable_if_t<std::is_same_v<std::invoke_result_t<T&, TensorBase>, TensorBase>, unsigned>;

  /// Calls `hook` with the gradient of this tensor each time it is computed.
  /// Returns a position that `remove_hook` takes. Throws when no gradient is required.
  template <typename T>
  hook_return_void_t<T> register_hook(T&& hook) const {
    return register_hook_impl([fn = std::forward<T>(hook)](const TensorBase& grad) mutable {
      fn(grad);
      return TensorBase();
    });
  }
  template <typename T>
  hook_return_var_t<T> register_hook(T&& hook) const {
    return register_hook_impl(std::forward<T>(hook));
  }

 protected:
  unsigned register_hook_impl(std::function<TensorBase(const TensorBase&)> hook) const;

  explicit TensorBase(unsafe_borrow_t, const TensorBase& rhs) : impl_(ImplPtr::reclaim(rhs.impl_.get())) {}
  friend struct c10::MaybeOwnedTraits<TensorBase>;
  friend struct c10::MaybeOwnedTraits<Tensor>;

  template <typename T>
  void check_scalar_type() const {
    // void and char-like pointers carry no dtype to check.
    if constexpr (!std::is_void_v<T>) {
      if (C10_UNLIKELY(scalar_type() != c10::CppTypeToScalarType<T>::value)) {
        detail::throw_wrong_scalar_type(c10::CppTypeToScalarType<T>::value, scalar_type());
      }
    }
  }
  template <typename T>
  auto accessor_data() const {
    if constexpr (std::is_const_v<T>) {
      return const_data_ptr<T>();
    } else {
      return data_ptr<T>();
    }
  }
  void check_accessor_rank(int64_t rank) const {
    if (C10_UNLIKELY(dim() != rank)) {
      detail::throw_wrong_accessor_rank(rank, dim());
    }
  }
  TensorBase contiguous_copy(c10::MemoryFormat memory_format) const;

  ImplPtr impl_;
};

inline int64_t get_device(const TensorBase& self) {
  return self.get_device();
}

namespace symint {
/// Chooses between `sizes` and `sym_sizes` by the element type wanted.
template <typename T>
c10::ArrayRef<T> sizes(const TensorBase& t) {
  if constexpr (std::is_same_v<T, c10::SymInt>) {
    return t.sym_sizes();
  } else {
    return t.sizes();
  }
}
template <typename T>
c10::ArrayRef<T> strides(const TensorBase& t) {
  if constexpr (std::is_same_v<T, c10::SymInt>) {
    return t.sym_strides();
  } else {
    return t.strides();
  }
}
template <typename T>
T size(const TensorBase& t, int64_t dim) {
  return t.size(dim);
}
template <typename T>
T numel(const TensorBase& t) {
  return t.numel();
}
} // namespace symint

} // namespace at

namespace c10 {

template <>
struct MaybeOwnedTraits<at::TensorBase> {
  using owned_type = at::TensorBase;
  using borrow_type = at::TensorBase;
  static borrow_type createBorrow(const owned_type& from) {
    return borrow_type(borrow_type::unsafe_borrow_t{}, from);
  }
  static void assignBorrow(borrow_type& lhs, const borrow_type& rhs) {
    lhs.unsafeReleaseTensorImpl();
    lhs = borrow_type(borrow_type::unsafe_borrow_t{}, rhs);
  }
  static void destroyBorrow(borrow_type& target) {
    target.unsafeReleaseTensorImpl();
  }
  static const owned_type& referenceFromBorrow(const borrow_type& borrow) {
    return borrow;
  }
  static const owned_type* pointerFromBorrow(const borrow_type& borrow) {
    return &borrow;
  }
  static bool debugBorrowIsValid(const borrow_type&) {
    return true;
  }
};

template <>
struct ExclusivelyOwnedTraits<at::TensorBase> {
  using repr_type = at::TensorBase;
  using pointer_type = at::TensorBase*;
  using const_pointer_type = const at::TensorBase*;
  static repr_type nullRepr() {
    return {};
  }
  template <class... Args>
  static repr_type createInPlace(Args&&... args) {
    return at::TensorBase(std::forward<Args>(args)...);
  }
  static repr_type moveToRepr(at::TensorBase&& x) {
    return std::move(x);
  }
  static void destroyOwned(at::TensorBase& x) {
    x.reset();
  }
  static at::TensorBase take(at::TensorBase& x) {
    return std::move(x);
  }
  static pointer_type getImpl(repr_type& x) {
    return &x;
  }
  static const_pointer_type getImpl(const repr_type& x) {
    return &x;
  }
};

} // namespace c10

namespace at {
inline c10::MaybeOwned<TensorBase> TensorBase::expect_contiguous(c10::MemoryFormat memory_format) const& {
  return is_contiguous(memory_format) ? c10::MaybeOwned<TensorBase>::borrowed(*this)
                                      : c10::MaybeOwned<TensorBase>::owned(contiguous(memory_format));
}
} // namespace at
