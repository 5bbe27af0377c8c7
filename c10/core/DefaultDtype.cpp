#include <c10/core/DefaultDtype.h>

#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/impl/DefaultDtype.h>

namespace c10 {

namespace impl {
constinit std::atomic<ScalarType> default_dtype{ScalarType::Float};
}

void set_default_dtype(caffe2::TypeMeta dtype) {
  const ScalarType type = typeMetaToScalarType(dtype);
  TORCH_CHECK_TYPE(isFloatingType(type), "only floating-point types are supported as the default type, got ", type);
  TORCH_CHECK_TYPE(
      !isFloat8Type(type) && type != ScalarType::Float4_e2m1fn_x2,
      "only types with arithmetic can be the default type, got ", type);
  impl::default_dtype.store(type, std::memory_order_relaxed);
}

const caffe2::TypeMeta get_default_dtype() {
  return scalarTypeToTypeMeta(get_default_dtype_as_scalartype());
}

ScalarType get_default_dtype_as_scalartype() {
  return impl::default_dtype.load(std::memory_order_relaxed);
}

const caffe2::TypeMeta get_default_complex_dtype() {
  return scalarTypeToTypeMeta(toComplexType(get_default_dtype_as_scalartype()));
}

}  // namespace c10
