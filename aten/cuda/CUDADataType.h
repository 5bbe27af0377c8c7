// The names that CUDA's libraries have for dtypes.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <library_types.h>

namespace at::cuda {

/// CUDA_R_32F for float and so on. Throws for a dtype that CUDA's libraries do not know.
inline cudaDataType ScalarTypeToCudaDataType(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Byte:
      return CUDA_R_8U;
    case c10::ScalarType::Char:
      return CUDA_R_8I;
    case c10::ScalarType::Short:
      return CUDA_R_16I;
    case c10::ScalarType::Int:
      return CUDA_R_32I;
    case c10::ScalarType::Long:
      return CUDA_R_64I;
    case c10::ScalarType::Half:
      return CUDA_R_16F;
    case c10::ScalarType::BFloat16:
      return CUDA_R_16BF;
    case c10::ScalarType::Float:
      return CUDA_R_32F;
    case c10::ScalarType::Double:
      return CUDA_R_64F;
    case c10::ScalarType::ComplexHalf:
      return CUDA_C_16F;
    case c10::ScalarType::ComplexFloat:
      return CUDA_C_32F;
    case c10::ScalarType::ComplexDouble:
      return CUDA_C_64F;
    case c10::ScalarType::Float8_e4m3fn:
      return CUDA_R_8F_E4M3;
    case c10::ScalarType::Float8_e5m2:
      return CUDA_R_8F_E5M2;
    default:
      TORCH_CHECK(false, "Cannot convert ScalarType ", dtype, " to cudaDataType.");
  }
}

/// The same for a C++ type.
template <class T>
inline cudaDataType getCudaDataType() {
  return ScalarTypeToCudaDataType(c10::CppTypeToScalarType<T>::value);
}

} // namespace at::cuda
