// Names of dtypes, layouts and storage classes in PyTorch's pickles.
#pragma once

#include <c10/core/Layout.h>
#include <c10/core/QScheme.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <string_view>

namespace torch::serialize {

/// "FloatStorage" for float32, ...
std::string storage_class(c10::ScalarType dtype);
std::optional<c10::ScalarType> dtype_of_storage_class(std::string_view name);
/// Whether Python has the storage class. The newer dtypes travel as untyped storages there.
bool python_has_storage_class(c10::ScalarType dtype);
/// "float32", as an attribute of Python's torch module; nullopt for dtypes that are not saved.
std::optional<std::string_view> python_dtype(c10::ScalarType dtype);
std::optional<c10::ScalarType> dtype_of_python_name(std::string_view name);
/// "torch.sparse_coo", as Python prints it; nullopt for layouts that are not saved.
std::optional<std::string_view> python_layout(c10::Layout layout);
std::optional<c10::Layout> layout_of_python_name(std::string_view name);
/// "per_tensor_affine", as an attribute of Python's torch module; throws for schemes that no tensor has.
std::string_view python_qscheme(c10::QScheme scheme);
std::optional<c10::QScheme> qscheme_of_python_name(std::string_view name);

} // namespace torch::serialize
