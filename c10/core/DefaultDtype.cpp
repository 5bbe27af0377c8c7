#include <c10/core/DefaultDtype.h>

#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/impl/DefaultDtype.h>

namespace c10 {

namespace impl {
constinit std::atomic<ScalarType> default_dtype{ScalarType::Float};
}

void set_default_dtype(caffe2::TypeMeta dtype) {
  impl::default_dtype.store(typeMetaToScalarType(dtype), std::memory_order_relaxed);
}

const caffe2::TypeMeta get_default_dtype() {
  return scalarTypeToTypeMeta(get_default_dtype_as_scalartype());
}

ScalarType get_default_dtype_as_scalartype() {
  return impl::default_dtype.load(std::memory_order_relaxed);
}

const caffe2::TypeMeta get_default_complex_dtype() {
  switch (get_default_dtype_as_scalartype()) {
    case ScalarType::Half:
      return scalarTypeToTypeMeta(ScalarType::ComplexHalf);
    case ScalarType::Double:
      return scalarTypeToTypeMeta(ScalarType::ComplexDouble);
    default:
      return scalarTypeToTypeMeta(ScalarType::ComplexFloat);
  }
}

} // namespace c10
