// Element access with strides known at compile-time rank: host accessors and
// accessors that can be passed to device kernels by value.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace at {

template <typename T>
struct DefaultPtrTraits {
  using PtrType = T*;
};

#if defined(__CUDACC__) || defined(__HIPCC__)
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};
#endif

/// What accessors of every rank share: a data pointer with borrowed sizes and strides.
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
class TensorAccessorBase {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  C10_HOST_DEVICE TensorAccessorBase(PtrType data, const index_t* sizes, const index_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  C10_HOST c10::ArrayRef<index_t> sizes() const {
    return c10::ArrayRef<index_t>(sizes_, N);
  }
  C10_HOST c10::ArrayRef<index_t> strides() const {
    return c10::ArrayRef<index_t>(strides_, N);
  }
  C10_HOST_DEVICE index_t stride(index_t i) const {
    return strides_[i];
  }
  C10_HOST_DEVICE index_t size(index_t i) const {
    return sizes_[i];
  }
  C10_HOST_DEVICE PtrType data() {
    return data_;
  }
  C10_HOST_DEVICE const PtrType data() const {
    return data_;
  }

 protected:
  PtrType data_;
  const index_t* sizes_;
  const index_t* strides_;
};

/// `accessor[i]` drops the leading dimension; at rank 1 it is the element.
/// Borrows the sizes and strides of the tensor it was made from.
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
class TensorAccessor : public TensorAccessorBase<T, N, PtrTraits, index_t> {
  using Base = TensorAccessorBase<T, N, PtrTraits, index_t>;

 public:
  using Base::Base;

  C10_HOST_DEVICE decltype(auto) operator[](index_t i) const {
    if constexpr (N == 1) {
      return static_cast<std::conditional_t<std::is_const_v<T>, const T&, T&>>(
          const_cast<typename Base::PtrType>(this->data_)[this->strides_[0] * i]);
    } else {
      return TensorAccessor<T, N - 1, PtrTraits, index_t>(
          this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1);
    }
  }
};

/// What packed accessors of every rank share: a data pointer with copies of sizes and strides, so that it can be
/// passed by value to a device kernel. `index_t` may be int32_t for speed.
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
class GenericPackedTensorAccessorBase {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  template <typename source_index_t>
  C10_HOST GenericPackedTensorAccessorBase(PtrType data, const source_index_t* sizes, const source_index_t* strides)
      : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<index_t>(sizes[i]);
      strides_[i] = static_cast<index_t>(strides[i]);
    }
  }

  C10_HOST_DEVICE index_t stride(index_t i) const {
    return strides_[i];
  }
  C10_HOST_DEVICE index_t size(index_t i) const {
    return sizes_[i];
  }
  C10_HOST_DEVICE PtrType data() {
    return data_;
  }
  C10_HOST_DEVICE const PtrType data() const {
    return data_;
  }

 protected:
  PtrType data_;
  index_t sizes_[N];
  index_t strides_[N];
};

/// A packed accessor whose `accessor[i]` drops the leading dimension; at rank 1 it is the element.
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
class GenericPackedTensorAccessor : public GenericPackedTensorAccessorBase<T, N, PtrTraits, index_t> {
  using Base = GenericPackedTensorAccessorBase<T, N, PtrTraits, index_t>;

 public:
  using Base::Base;
  using typename Base::PtrType;

  C10_HOST_DEVICE decltype(auto) operator[](index_t i) const {
    if constexpr (N == 1) {
      return static_cast<std::conditional_t<std::is_const_v<T>, const T&, T&>>(
          const_cast<PtrType>(this->data_)[this->strides_[0] * i]);
    } else {
      return TensorAccessor<T, N - 1, PtrTraits, index_t>(
          const_cast<PtrType>(this->data_) + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1);
    }
  }

  /// The same data with dimensions `dim1` and `dim2` exchanged.
  C10_HOST GenericPackedTensorAccessor transpose(index_t dim1, index_t dim2) const {
    TORCH_CHECK_INDEX(
        0 <= dim1 && dim1 < static_cast<index_t>(N) && 0 <= dim2 && dim2 < static_cast<index_t>(N),
        "transpose: dimensions ", dim1, " and ", dim2, " must lie in [0, ", N, ")");
    GenericPackedTensorAccessor result(*this);
    std::swap(result.sizes_[dim1], result.sizes_[dim2]);
    std::swap(result.strides_[dim1], result.strides_[dim2]);
    return result;
  }
};

/// The older name.
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, PtrTraits, index_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;

} // namespace at
