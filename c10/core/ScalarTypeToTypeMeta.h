#pragma once

#include <type_traits>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <c10/core/TypeMeta.h>

#include <optional>

namespace c10 {

inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType scalar_type) {
  return caffe2::TypeMeta::fromScalarType(scalar_type);
}
/// Throws for types that are no ScalarType.
inline ScalarType typeMetaToScalarType(caffe2::TypeMeta dtype) {
  return dtype.toScalarType();
}
/// (T is named so that programs pay for std::optional<TypeMeta> only where they use it.)
template <typename T = caffe2::TypeMeta>
std::optional<ScalarType> optTypeMetaToScalarType(std::optional<std::enable_if_t<true, T>> type_meta) {
  if (!type_meta.has_value()) {
    return std::nullopt;
  }
  return type_meta->toScalarType();
}

inline bool operator==(ScalarType t, caffe2::TypeMeta m) {
  return m.isScalarType(t);
}
inline bool operator==(caffe2::TypeMeta m, ScalarType t) {
  return t == m;
}
inline bool operator!=(ScalarType t, caffe2::TypeMeta m) {
  return !(t == m);
}
inline bool operator!=(caffe2::TypeMeta m, ScalarType t) {
  return !(t == m);
}

} // namespace c10
