#include <csrc/serialize/storage_types.h>

#include <c10/util/Exception.h>

namespace torch::serialize {

namespace {

using c10::ScalarType;

struct Names {
  ScalarType dtype;
  bool has_python_storage;
  std::string_view python;
};

constexpr Names kNames[] = {
    {ScalarType::Float, true, "float32"},
    {ScalarType::Long, true, "int64"},
    {ScalarType::Double, true, "float64"},
    {ScalarType::Half, true, "float16"},
    {ScalarType::BFloat16, true, "bfloat16"},
    {ScalarType::Bool, true, "bool"},
    {ScalarType::Byte, true, "uint8"},
    {ScalarType::Char, true, "int8"},
    {ScalarType::Short, true, "int16"},
    {ScalarType::Int, true, "int32"},
    {ScalarType::ComplexFloat, true, "complex64"},
    {ScalarType::ComplexDouble, true, "complex128"},
    {ScalarType::QInt8, true, "qint8"},
    {ScalarType::QUInt8, true, "quint8"},
    {ScalarType::QInt32, true, "qint32"},
    {ScalarType::QUInt4x2, true, "quint4x2"},
    {ScalarType::ComplexHalf, false, "complex32"},
    {ScalarType::UInt16, false, "uint16"},
    {ScalarType::UInt32, false, "uint32"},
    {ScalarType::UInt64, false, "uint64"},
    {ScalarType::Float8_e4m3fn, false, "float8_e4m3fn"},
    {ScalarType::Float8_e5m2, false, "float8_e5m2"},
    {ScalarType::Float8_e4m3fnuz, false, "float8_e4m3fnuz"},
    {ScalarType::Float8_e5m2fnuz, false, "float8_e5m2fnuz"},
    {ScalarType::Float8_e8m0fnu, false, "float8_e8m0fnu"},
    {ScalarType::Float4_e2m1fn_x2, false, "float4_e2m1fn_x2"},
};

struct LayoutName {
  c10::Layout layout;
  std::string_view python;
};

constexpr LayoutName kLayoutNames[] = {
    {c10::kStrided, "torch.strided"},      {c10::kSparse, "torch.sparse_coo"},    {c10::kSparseCsr, "torch.sparse_csr"},
    {c10::kSparseCsc, "torch.sparse_csc"}, {c10::kSparseBsr, "torch.sparse_bsr"}, {c10::kSparseBsc, "torch.sparse_bsc"},
};

struct SchemeName {
  c10::QScheme scheme;
  std::string_view python;
};

constexpr SchemeName kSchemeNames[] = {
    {c10::kPerTensorAffine, "per_tensor_affine"},
    {c10::kPerChannelAffine, "per_channel_affine"},
    {c10::kPerTensorSymmetric, "per_tensor_symmetric"},
    {c10::kPerChannelSymmetric, "per_channel_symmetric"},
    {c10::kPerChannelAffineFloatQParams, "per_channel_affine_float_qparams"},
};

} // namespace

std::string storage_class(ScalarType dtype) {
  return std::string(c10::toString(dtype)) + "Storage";
}

std::optional<ScalarType> dtype_of_storage_class(std::string_view name) {
  for (const Names& names : kNames) {
    if (storage_class(names.dtype) == name) {
      return names.dtype;
    }
  }
  return std::nullopt;
}

bool python_has_storage_class(ScalarType dtype) {
  for (const Names& names : kNames) {
    if (names.dtype == dtype) {
      return names.has_python_storage;
    }
  }
  return false;
}

std::optional<std::string_view> python_dtype(ScalarType dtype) {
  for (const Names& names : kNames) {
    if (names.dtype == dtype) {
      return names.python;
    }
  }
  return std::nullopt;
}

std::optional<ScalarType> dtype_of_python_name(std::string_view name) {
  for (const Names& names : kNames) {
    if (names.python == name) {
      return names.dtype;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> python_layout(c10::Layout layout) {
  for (const LayoutName& name : kLayoutNames) {
    if (name.layout == layout) {
      return name.python;
    }
  }
  return std::nullopt;
}

std::optional<c10::Layout> layout_of_python_name(std::string_view name) {
  for (const LayoutName& known : kLayoutNames) {
    if (known.python == name) {
      return known.layout;
    }
  }
  return std::nullopt;
}

std::string_view python_qscheme(c10::QScheme scheme) {
  for (const SchemeName& names : kSchemeNames) {
    if (names.scheme == scheme) {
      return names.python;
    }
  }
  TORCH_CHECK(false, "a tensor of scheme ", c10::toString(scheme), " cannot be saved");
}

std::optional<c10::QScheme> qscheme_of_python_name(std::string_view name) {
  for (const SchemeName& names : kSchemeNames) {
    if (names.python == name) {
      return names.scheme;
    }
  }
  return std::nullopt;
}

} // namespace torch::serialize
