// Loops over the elements of CPU tensors of any strides: `op` gets a pointer to an element of each.
//
//   at::CPU_tensor_apply2<float, const float>(a, b, [](float& x, const float& y) { x *= y; });
//
// Tensors may have different shapes; they need the same number of elements, which are taken in the order of their
// indices.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace at {
namespace detail {

/// Walks a tensor's elements in the order of their indices.
template <typename T>
class ElementWalk {
 public:
  explicit ElementWalk(const Tensor& t)
      : data_(static_cast<T*>(std::is_const_v<T> ? const_cast<void*>(t.const_data_ptr()) : t.mutable_data_ptr())),
        sizes_(t.sizes().begin(), t.sizes().end()),
        strides_(t.strides().begin(), t.strides().end()),
        counter_(t.dim(), 0) {
    TORCH_CHECK(
        t.scalar_type() == c10::CppTypeToScalarType<std::remove_const_t<T>>::value,
        "CPU_tensor_apply: expected scalar type ", c10::CppTypeToScalarType<std::remove_const_t<T>>::value,
        " but found ", t.scalar_type());
  }
  T& operator*() const {
    return *data_;
  }
  void operator++() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      data_ += strides_[d];
      if (++counter_[d] < sizes_[d]) {
        return;
      }
      counter_[d] = 0;
      data_ -= strides_[d] * sizes_[d];
    }
  }

 private:
  T* data_;
  DimVector sizes_, strides_, counter_;
};

/// Throws unless the tensors are strided ones of the CPU with as many elements each. Returns that number.
inline int64_t check_applied(ArrayRef<Tensor> tensors) {
  for (const Tensor& t : tensors) {
    TORCH_CHECK(
        t.defined() && t.is_cpu() && t.layout() == kStrided, "CPU_tensor_apply: expected strided tensors of the CPU");
    TORCH_CHECK(
        t.numel() == tensors[0].numel(), "inconsistent tensor size, expected ", tensors[0].sizes(), " and ", t.sizes(),
        " to have the same number of elements, but got ", tensors[0].numel(), " and ", t.numel(),
        " elements respectively");
  }
  return tensors[0].numel();
}

template <typename Op, typename... Scalars, size_t... I>
void apply_to_elements(
    int64_t count, const Op& op, std::tuple<ElementWalk<Scalars>...> walks, std::index_sequence<I...>) {
  for (int64_t i = 0; i < count; ++i) {
    op(*std::get<I>(walks)...);
    (++std::get<I>(walks), ...);
  }
}

} // namespace detail

template <typename scalar1, typename Op>
void CPU_tensor_apply1(Tensor tensor1, const Op op) {
  const int64_t count = detail::check_applied({tensor1});
  detail::apply_to_elements(
      count, op, std::make_tuple(detail::ElementWalk<scalar1>(tensor1)), std::make_index_sequence<1>());
}

template <typename scalar1, typename scalar2, typename Op>
void CPU_tensor_apply2(Tensor tensor1, Tensor tensor2, const Op op) {
  const int64_t count = detail::check_applied({tensor1, tensor2});
  detail::apply_to_elements(
      count, op, std::make_tuple(detail::ElementWalk<scalar1>(tensor1), detail::ElementWalk<scalar2>(tensor2)),
      std::make_index_sequence<2>());
}

template <typename scalar1, typename scalar2, typename scalar3, typename Op>
void CPU_tensor_apply3(Tensor tensor1, Tensor tensor2, Tensor tensor3, const Op op) {
  const int64_t count = detail::check_applied({tensor1, tensor2, tensor3});
  detail::apply_to_elements(
      count, op,
      std::make_tuple(
          detail::ElementWalk<scalar1>(tensor1), detail::ElementWalk<scalar2>(tensor2),
          detail::ElementWalk<scalar3>(tensor3)),
      std::make_index_sequence<3>());
}

template <typename scalar1, typename scalar2, typename scalar3, typename scalar4, typename Op>
void CPU_tensor_apply4(Tensor tensor1, Tensor tensor2, Tensor tensor3, Tensor tensor4, const Op op) {
  const int64_t count = detail::check_applied({tensor1, tensor2, tensor3, tensor4});
  detail::apply_to_elements(
      count, op,
      std::make_tuple(
          detail::ElementWalk<scalar1>(tensor1), detail::ElementWalk<scalar2>(tensor2),
          detail::ElementWalk<scalar3>(tensor3), detail::ElementWalk<scalar4>(tensor4)),
      std::make_index_sequence<4>());
}

} // namespace at
