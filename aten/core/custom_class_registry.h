#pragma once

#include <aten/core/class_type.h>

#include <string>
#include <typeindex>
#include <vector>

namespace c10 {
class RegistrationHandleRAII;
}

namespace torch {

/// The class of this name, "__torch__.torch.classes.NS.NAME", or nullptr if neither a library has bound it nor a schema
/// has named it.
TORCH_API c10::ClassTypePtr getCustomClass(const std::string& qualified_name);
/// As getCustomClass(), but makes an empty class when there is none: a schema may name a class before its library binds
/// it.
TORCH_API c10::ClassTypePtr declareCustomClass(const std::string& qualified_name);
/// Names of all bound classes.
TORCH_API std::vector<std::string> getAllCustomClassesNames();

namespace detail {
/// Binds a C++ class (`holder` is the type of intrusive_ptr<T>). Throws if either side is bound already.
TORCH_API c10::ClassTypePtr registerCustomClass(
    const std::string& qualified_name, const std::type_index& holder, const std::string& debug, const std::string& doc);
/// Keeps a method alive and adds it to the class (static methods by `is_static`).
TORCH_API torch::jit::Function* registerCustomClassMethod(
    const c10::ClassTypePtr& type, std::unique_ptr<torch::jit::Function> method, bool is_static);
/// Unbinds the class, and forgets its methods, when the handle dies. Its name stays known to schemas and may be bound
/// again.
TORCH_API c10::RegistrationHandleRAII bound_class(const std::string& class_namespace, const std::string& class_name);
} // namespace detail

} // namespace torch
