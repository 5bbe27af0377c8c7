// The owner of TorchScript classes.
#pragma once

#ifdef TENSOR_TORCHSCRIPT
#include <csrc/jit/api/compilation_unit.h>
#else

#include <aten/core/class_type.h>
#include <c10/util/Indirect.h>

#include <memory>
#include <vector>

namespace torch::jit {

/// Keeps named types alive and finds them by name.
struct TORCH_API CompilationUnit {
  /// Throws if the name is taken.
  void register_type(c10::NamedTypePtr type);
  /// nullptr if there is none.
  c10::NamedTypePtr get_type(const c10::QualifiedName& name) const;
  c10::ClassTypePtr get_class(const c10::QualifiedName& name) const;

 private:
  c10::Indirect<std::vector<c10::NamedTypePtr> > types_;
};

} // namespace torch::jit

#endif
