#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>

namespace caffe2 {
class TypeMeta;
}

namespace c10 {

/// Sets the type of tensors made without naming one. Usually a floating-point type: operators that turn integers into
/// floating-point numbers take this type for them, and most have no kernels for others. Throws if `dtype` is no type of
/// tensor elements.
C10_API void set_default_dtype(caffe2::TypeMeta dtype);
C10_API const caffe2::TypeMeta get_default_dtype();
C10_API ScalarType get_default_dtype_as_scalartype();
/// The complex type with parts of the default type; ComplexFloat where there is none.
C10_API const caffe2::TypeMeta get_default_complex_dtype();

} // namespace c10
