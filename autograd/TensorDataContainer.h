// Nested braces of numbers that torch::tensor takes.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Indirect.h>

#include <initializer_list>
#include <iosfwd>
#include <vector>

namespace torch::detail {

enum class TensorDataContainerType { Scalar, InitList, Tensor };

/// What a tensor of numbers of a C++ type holds: int64 for int, the default dtype for float and double, else that type.
TORCH_API c10::ScalarType compute_desired_dtype(c10::ScalarType number);

/// A number, a list of containers of one shape, or a tensor made from an array.
/// Conversions from every number type, `{...}`, std::vector and ArrayRef are implicit.
class TORCH_API TensorDataContainer {
 public:
  /// `tensor({})`: one dimension, no elements.
  TensorDataContainer();
  TensorDataContainer(std::initializer_list<TensorDataContainer> init_list);

  // Defined apart: a std::vector of each type costs a program that includes this half a megabyte of the compiler's
  // memory.
#define TENSOR_DATA_NUMBER(T, S) TensorDataContainer(T value);
  AT_FORALL_SCALAR_TYPES_AND3(Bool, Half, BFloat16, TENSOR_DATA_NUMBER)
  AT_FORALL_COMPLEX_TYPES(TENSOR_DATA_NUMBER)
#undef TENSOR_DATA_NUMBER

#define TENSOR_DATA_ARRAY(T, S)                \
  TensorDataContainer(at::ArrayRef<T> values); \
  TensorDataContainer(const std::vector<T>& values);
  AT_FORALL_SCALAR_TYPES_AND2(Half, BFloat16, TENSOR_DATA_ARRAY)
  AT_FORALL_COMPLEX_TYPES(TENSOR_DATA_ARRAY)
#undef TENSOR_DATA_ARRAY
  TensorDataContainer(at::ArrayRef<bool> values);
  TensorDataContainer(const std::vector<bool>& values);
  TensorDataContainer(const TensorDataContainer& other);
  TensorDataContainer(TensorDataContainer&& other) noexcept;
  TensorDataContainer& operator=(const TensorDataContainer& other);
  TensorDataContainer& operator=(TensorDataContainer&& other) noexcept;
  ~TensorDataContainer();

  // Each of the three kinds is read only where the container has it; otherwise the call throws.
  bool is_scalar() const {
    return type_ == TensorDataContainerType::Scalar;
  }
  const c10::Scalar& scalar() const;
  bool is_init_list() const {
    return type_ == TensorDataContainerType::InitList;
  }
  const std::vector<TensorDataContainer>& init_list() const;
  bool is_tensor() const {
    return type_ == TensorDataContainerType::Tensor;
  }
  const at::Tensor& tensor() const;
  const std::vector<int64_t>& sizes() const {
    return sizes_;
  }
  /// The type of the numbers as they are written, Int for 1 and Double for 1.0.
  c10::ScalarType scalar_type() const {
    return scalar_type_;
  }

  /// The tensor that the braces describe, with the dtype of `options` if that has one.
  at::Tensor convert_to_tensor(at::TensorOptions options) const;

 private:
  TensorDataContainer(c10::Scalar number, c10::ScalarType dtype);
  TensorDataContainer(const void* data, size_t count, c10::ScalarType dtype);

  void fill(at::Tensor& tensor) const;

  std::vector<int64_t> sizes_;
  c10::ScalarType scalar_type_;
  TensorDataContainerType type_;
  c10::Scalar scalar_;
  c10::Indirect<std::vector<TensorDataContainer>> list_;
  at::Tensor tensor_;
};

/// Prints the numbers as they are written: `{{1, 2}, {3, 4}}`.
TORCH_API std::ostream& operator<<(std::ostream& out, const TensorDataContainer& container);

} // namespace torch::detail
