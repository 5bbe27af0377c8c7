// at::Tensor: TensorBase plus one method for each operator form that is a method.
#pragma once

#include <c10/util/SwapValues.h>
#include <aten/core/Generator.h>
#include <aten/core/Reduction.h>
#include <aten/core/TensorBase.h>
#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace c10 {
template <class T>
class List;
template <class T>
class IListRef;
} // namespace c10

namespace at {

class Tensor;
class DeprecatedTypeProperties;
using TensorList = c10::ArrayRef<Tensor>;
using ITensorList = c10::IListRef<Tensor>;
using ITensorListRef = ITensorList;
using Stream = c10::Stream;
using OptionalSymIntArrayRef = c10::OptionalArrayRef<c10::SymInt>;
class OptionalTensorRef;

namespace indexing {
struct TensorIndex;
}

class TORCH_API Tensor : public TensorBase {
 public:
  Tensor() = default;
  explicit Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> tensor_impl)
      : TensorBase(std::move(tensor_impl)) {}
  explicit Tensor(c10::TensorImpl* owned, c10::raw::DontIncreaseRefcount tag) noexcept : TensorBase(owned, tag) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  explicit Tensor(const TensorBase& base) : TensorBase(base) {}
  Tensor(TensorBase&& base) noexcept : TensorBase(std::move(base)) {}

  /// Assigning to a named handle makes it refer to the other tensor;
  /// assigning to a temporary (`x[0] = y`) writes the values through.
  Tensor& operator=(const TensorBase& x) & noexcept {
    impl_ = x.getIntrusivePtr();
    return *this;
  }
  Tensor& operator=(TensorBase&& x) & noexcept {
    impl_ = x.unsafeReleaseIntrusivePtr();
    return *this;
  }
  Tensor& operator=(const Tensor& x) & noexcept {
    return operator=(static_cast<const TensorBase&>(x));
  }
  Tensor& operator=(Tensor&& x) & noexcept {
    return operator=(static_cast<TensorBase&&>(x));
  }
  Tensor& operator=(const Tensor& x) &&;
  Tensor& operator=(Tensor&& x) &&;
  Tensor& operator=(const Scalar& v) &&;

  bool is_same(const Tensor& other) const noexcept {
    return TensorBase::is_same(other);
  }

  static Tensor wrap_tensor_impl(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> tensor_impl) {
    return Tensor(std::move(tensor_impl));
  }

  Tensor contiguous(c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous) const {
    return is_contiguous(memory_format) ? *this : Tensor(contiguous_copy(memory_format));
  }
  c10::MaybeOwned<Tensor> expect_contiguous(c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous) const&;
  c10::MaybeOwned<Tensor> expect_contiguous(c10::MemoryFormat memory_format = c10::MemoryFormat::Contiguous) && =
      delete;

  /// The value of a one-element tensor as `T`. Throws when there are more elements or T cannot hold it.
  template <typename T>
  T item() const {
    return item().to<T>();
  }

  Tensor operator~() const;
  Tensor operator-() const;
  Tensor& operator+=(const Tensor& other);
  Tensor& operator+=(const Scalar& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator-=(const Scalar& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator*=(const Scalar& other);
  Tensor& operator/=(const Tensor& other);
  Tensor& operator/=(const Scalar& other);
  Tensor& operator&=(const Tensor& other);
  Tensor& operator|=(const Tensor& other);
  Tensor& operator^=(const Tensor& other);
  Tensor operator[](const Scalar& index) const;
  Tensor operator[](const Tensor& index) const;
  Tensor operator[](int64_t index) const;

  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& rhs);
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& v);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& rhs);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& v);

  Tensor cpu() const;
  Tensor cuda() const;
  Tensor hip() const;
  Tensor ve() const;
  Tensor vulkan() const;
  Tensor metal() const;
  Tensor meta() const;
  /// Backend and dtype as one object (<aten/core/DeprecatedTypeProperties.h>), for older code.
  [[deprecated("use options(), scalar_type() or device()")]] DeprecatedTypeProperties& type() const;
  Tensor toType(ScalarType t) const;
  Tensor toBackend(c10::Backend b) const;

  /// Accumulates the gradients of this tensor into the leaves of its graph.
  /// `inputs` limits that to the given leaves. Throws for a non-scalar without `gradient`.
  void backward(
      const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt, bool create_graph = false) const;
  void backward(
      const Tensor& gradient,
      std::optional<bool> retain_graph,
      bool create_graph,
      std::optional<TensorList> inputs) const;
  const Tensor& set_requires_grad(bool requires_grad) const {
    TensorBase::set_requires_grad(requires_grad);
    return *this;
  }
  const Tensor& requires_grad_(bool requires_grad = true) const {
    TensorBase::requires_grad_(requires_grad);
    return *this;
  }
  /// The accumulated gradient, undefined until a backward pass reaches this tensor.
  Tensor& mutable_grad() const {
    return impl_->mutable_grad();
  }
  const Tensor& grad() const;
  Tensor data() const {
    return TensorBase::data();
  }
  /// What data_ptr<T>() was called at first.
  template <typename T>
  [[deprecated("use data_ptr<T>()")]] T* data() const {
    return data_ptr<T>();
  }
  Tensor tensor_data() const {
    return TensorBase::tensor_data();
  }
  Tensor variable_data() const {
    return TensorBase::variable_data();
  }
  /// func(*this, params...), for calls in a chain: x.m(relu).m(scaled, 2).
  template <typename F, typename... Args>
  decltype(auto) m(F func, Args&&... params) const {
    return func(*this, std::forward<Args>(params)...);
  }
  void _backward(
      TensorList inputs,
      const std::optional<Tensor>& gradient,
      std::optional<bool> keep_graph,
      bool create_graph) const;
  const Tensor& _base() const {
    return static_cast<const Tensor&>(TensorBase::_base());
  }
  const Tensor& _fw_grad(uint64_t level) const {
    return static_cast<const Tensor&>(TensorBase::_fw_grad(level));
  }

  template <typename T>
  using hook_return_void_t = std::enable_if_t<std::is_void_v<std::invoke_result_t<T&, Tensor>>, unsigned>;
  template <typename T>
  using hook_return_var_t = std::enable_if_t<std::is_same_v<std::invoke_result_t<T&, Tensor>, Tensor>, unsigned>;
  template <typename T>
  hook_return_void_t<T> register_hook(T&& hook) const {
    return register_hook_impl([fn = std::forward<T>(hook)](const TensorBase& grad) mutable -> TensorBase {
      fn(Tensor(grad));
      return TensorBase();
    });
  }
  template <typename T>
  hook_return_var_t<T> register_hook(T&& hook) const {
    return register_hook_impl(
        [fn = std::forward<T>(hook)](const TensorBase& grad) mutable -> TensorBase { return fn(Tensor(grad)); });
  }

  // Beside the operators that take the dimension's name.
  using TensorBase::size;
  using TensorBase::stride;
#include <aten/core/tensor_methods.inc>

  // A dtype() is a TypeMeta: `x.to(y.device(), y.dtype())`.
  Tensor to(Device device, caffe2::TypeMeta dtype, bool non_blocking = false, bool copy = false) const {
    return to(device, c10::typeMetaToScalarType(dtype), non_blocking, copy);
  }

 protected:
  explicit Tensor(unsafe_borrow_t, const TensorBase& rhs) : TensorBase(unsafe_borrow_t{}, rhs) {}
  friend class TensorBase;
  friend class OptionalTensorRef;
  friend struct c10::MaybeOwnedTraits<Tensor>;
};

/// Borrows a tensor or none: what optional tensor arguments become inside kernels.
class OptionalTensorRef {
 public:
  OptionalTensorRef() = default;
  OptionalTensorRef(const TensorBase& src) : ref_(Tensor::unsafe_borrow_t{}, src) {}
  OptionalTensorRef(const OptionalTensorRef& rhs) : ref_(Tensor::unsafe_borrow_t{}, rhs.ref_) {}
  OptionalTensorRef& operator=(OptionalTensorRef rhs) {
    c10::detail::swap_values(ref_, rhs.ref_);
    return *this;
  }
  ~OptionalTensorRef() {
    ref_.unsafeReleaseTensorImpl();
  }
  bool has_value() const {
    return ref_.defined();
  }
  const Tensor& getTensorRef() const& {
    return ref_;
  }
  const Tensor& operator*() const& {
    return ref_;
  }
  const Tensor* operator->() const& {
    return &ref_;
  }
  operator bool() const {
    return ref_.defined();
  }

 private:
  Tensor ref_;
};

/// Calls the borrowed form of `fn` with a Tensor that shares `tensor` without touching its reference count.
class TensorRef {
 public:
  explicit TensorRef(const TensorBase& src) : ref_(src) {}
  const Tensor& operator*() const& {
    return *ref_;
  }

 private:
  OptionalTensorRef ref_;
};

/// `make_tensor<MyTensorImpl>(args...)`: a tensor around a new implementation object.
template <typename T, typename... Args>
Tensor make_tensor(Args&&... args) {
  return Tensor(c10::make_intrusive<T>(std::forward<Args>(args)...));
}

namespace detail {
template <typename T, typename... Args>
Tensor make_tensor(Args&&... args) {
  return Tensor(c10::make_intrusive<T>(std::forward<Args>(args)...));
}
template <typename T, typename... Args>
TensorBase make_tensor_base(Args&&... args) {
  return TensorBase(c10::make_intrusive<T>(std::forward<Args>(args)...));
}
} // namespace detail

} // namespace at

namespace c10 {

template <>
struct MaybeOwnedTraits<at::Tensor> {
  using owned_type = at::Tensor;
  using borrow_type = at::Tensor;
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
struct ExclusivelyOwnedTraits<at::Tensor> {
  using repr_type = at::Tensor;
  using pointer_type = at::Tensor*;
  using const_pointer_type = const at::Tensor*;
  static repr_type nullRepr() {
    return {};
  }
  template <class... Args>
  static repr_type createInPlace(Args&&... args) {
    return at::Tensor(std::forward<Args>(args)...);
  }
  static repr_type moveToRepr(at::Tensor&& x) {
    return std::move(x);
  }
  static void destroyOwned(at::Tensor& x) {
    x.reset();
  }
  static at::Tensor take(at::Tensor& x) {
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
inline c10::MaybeOwned<Tensor> Tensor::expect_contiguous(c10::MemoryFormat memory_format) const& {
  return is_contiguous(memory_format) ? c10::MaybeOwned<Tensor>::borrowed(*this)
                                      : c10::MaybeOwned<Tensor>::owned(contiguous(memory_format));
}
} // namespace at
