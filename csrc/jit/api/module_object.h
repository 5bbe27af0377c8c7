// How objects and their classes come into being.
#pragma once

#include <aten/core/class_type.h>
#include <aten/core/ivalue.h>

#include <memory>

namespace torch::jit {

/// Without values in its slots.
c10::intrusive_ptr<c10::ivalue::Object> make_object(std::shared_ptr<CompilationUnit> cu, const c10::ClassTypePtr& type);
/// Names without prefix get "__torch__". Throws if the name is taken, unless `mangle`.
c10::intrusive_ptr<c10::ivalue::Object> make_object_of_new_class(
    c10::QualifiedName name, std::shared_ptr<CompilationUnit> cu, bool mangle, bool is_module);

/// Modules are walked by functions that call themselves: nesting beyond this is refused.
constexpr size_t kMaxModuleDepth = 1000;

} // namespace torch::jit
