// TorchScript modules as C++ programs see them.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/api/object.h>
#include <csrc/jit/api/slot_list.h>
#include <csrc/jit/executor_settings.h>
#include <csrc/jit/types.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch::jit {

using c10::QualifiedName;
/// Names of files beside a program in its archive, and what they hold.
using ExtraFilesMap = std::unordered_map<std::string, std::string>;
using ModulePtr = c10::intrusive_ptr<c10::ivalue::Object>;
using ModuleLookup = std::function<Module(const std::vector<std::string>&)>;

/// A handle of a module: an object with parameters, buffers, other attributes and modules in it, and with methods.
/// Copies of a handle stand for the same module. Any number of threads may call its methods at once; changing it
/// (`to`, `train`, `register_...`) is for one thread alone.
struct TORCH_API Module : Object {
  /// Empty.
  Module() = default;
  /// A new module of a new class, which has no members yet, in a compilation unit of its own.
  explicit Module(c10::QualifiedName class_name);
  /// A new module of the class, whose attributes have no values yet.
  Module(std::shared_ptr<CompilationUnit> cu, const c10::ClassTypePtr& type);
  /// A new module of a new class. Throws if the name is taken, unless `shouldMangle`.
  Module(c10::QualifiedName class_name, std::shared_ptr<CompilationUnit> cu, bool shouldMangle = false);
  /* implicit */ Module(ModulePtr module) : Object(std::move(module)) {}
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;
  ~Module() = default;

  /// Without effect, as in libtorch: warns. See setGraphExecutorOptimize().
  void set_optimized(bool o);
  /// Always true, as in libtorch: warns.
  bool is_optimized() const;

  /// Calls method `forward`. Throws if there is none, if arguments do not fit, and what the program throws.
  c10::IValue forward(std::vector<c10::IValue> inputs, const Kwargs& kwargs = Kwargs());
  /// Calls the class's forward pre-hooks, method `forward`, then its forward hooks. Hooks get the inputs as a
  /// tuple; what they return, but None, takes the place of the inputs or of the result.
  c10::IValue operator()(std::vector<c10::IValue> inputs);

  // -- members. A new name becomes an attribute of the class; a name that is there must be of the same kind and type.
  void register_buffer(const std::string& name, at::Tensor v);
  void register_parameter(const std::string& name, at::Tensor v, bool is_buffer);
  void register_attribute(
      const std::string& name, const c10::TypePtr& t, c10::IValue v, bool is_param = false, bool is_buffer = false);
  void register_module(const std::string& name, const Module& module);

  // -- lists of members, in the order of their registration; with `recurse`, of modules in modules, too. They are read
  // while they are gone through, and throw where a module contains itself.
  buffer_list buffers(bool recurse = true) const;
  named_buffer_list named_buffers(bool recurse = true) const;
  /// Modules directly in this one.
  module_list children() const;
  named_module_list named_children() const;
  /// This module, then all in it.
  module_list modules() const;
  named_module_list named_modules() const;
  parameter_list parameters(bool recurse = true) const;
  named_parameter_list named_parameters(bool recurse = true) const;
  /// Values of all attributes: parameters, buffers and modules among them.
  attribute_list attributes(bool recurse = true) const;
  named_attribute_list named_attributes(bool recurse = true) const;

  /// Calls `fn` with this module, then with all in it: the order of modules().
  void apply(const std::function<void(Module&)>& fn);

  // -- mode
  /// Sets attribute `training` of all modules that have it.
  void train(bool on = true);
  void eval() {
    train(false);
  }
  /// True for a module without attribute `training`.
  bool is_training() const;

  // -- parameters and buffers: each becomes what its to() gives, integers among them, and stays the same tensor.
  void to(at::Device device, at::ScalarType dtype, bool non_blocking = false);
  void to(at::ScalarType dtype, bool non_blocking = false);
  void to(at::Device device, bool non_blocking = false);

  // -- files
  /// Writes an archive that torch::jit::load reads, here and in PyTorch, with `extra_files` beside the program.
  void save(std::ostream& out, const ExtraFilesMap& extra_files = ExtraFilesMap()) const;
  void save(const std::string& filename, const ExtraFilesMap& extra_files = ExtraFilesMap()) const;
  /// Always throws: archives for the mobile interpreter are not written here. Use save().
  void _save_for_mobile(
      std::ostream& out,
      const ExtraFilesMap& extra_files = ExtraFilesMap(),
      bool save_mobile_debug_info = false,
      bool use_flatbuffer = false) const;
  void _save_for_mobile(
      const std::string& filename,
      const ExtraFilesMap& extra_files = ExtraFilesMap(),
      bool save_mobile_debug_info = false,
      bool use_flatbuffer = false) const;

  // -- text
  /// Prints what dump_to_str() gives.
  void dump(bool print_method_bodies, bool print_attr_values, bool print_param_values) const;
  std::string dump_to_str(bool print_method_bodies, bool print_attr_values, bool print_param_values) const;

  // -- copies
  /// A module of the same class that shares tensors and modules.
  Module copy() const;
  /// A module of the same class with its own tensors and modules, on `device` if it is given.
  Module deepcopy(std::optional<at::Device> device = std::nullopt) const;
  /// A module with its own classes, so that members can be added to it or changed. With `inplace` it shares tensors
  /// and other values; modules are always its own.
  Module clone(bool inplace = false) const;
  /// As above, without some methods and attributes.
  Module clone(
      bool inplace,
      const std::unordered_set<std::string>& ignored_methods,
      const std::unordered_set<std::string>& ignored_attributes) const;
  /// Adds a copy of another module's method, which works on this one.
  void clone_method(const Module& orig, const std::string& name);

  /// A new object of a class that the module's compilation unit knows, made by its `__init__`. Throws if there is none.
  template <class... Types>
  c10::IValue create_class(const c10::QualifiedName& name, Types&&... args) const {
    return create_class(name, Stack{c10::IValue(std::forward<Types>(args))...});
  }
  c10::IValue create_class(const c10::QualifiedName& name, Stack stack) const;

  /// Whether both are handles of the same module.
  bool operator==(const Module& other) const noexcept;
  bool operator!=(const Module& other) const noexcept {
    return !(*this == other);
  }

  /// Memory that lives as long as this handle and its copies.
  void set_delete_memory(std::shared_ptr<char> memory) {
    memory_ = std::move(memory);
  }

  // -- what a method was traced with: kept by this handle and its copies
  void store_traced_inputs(const std::string& func_name, std::vector<c10::IValue> inputs);
  c10::Dict<std::string, c10::impl::GenericList> retrieve_traced_inputs() const;

 private:
  friend struct ModuleCloner;

  std::shared_ptr<char> memory_;
  std::optional<c10::Dict<std::string, c10::impl::GenericList>> traced_inputs_;
};

/// A copy of the module whose parameters, buffers and other attributes are constants of its methods, as far as they do
/// not change; only `forward` and `preserved_attrs` remain. The module must be in eval mode. `optimize_numerics` allows
/// optimizations that change results in the last digits.
TORCH_API Module freeze(
    const Module& module,
    const std::optional<std::vector<std::string>>& preserved_attrs = std::nullopt,
    bool optimize_numerics = true);

/// The frozen module (it is frozen first, if need be, with `other_methods` kept), with what makes inference faster:
/// batch norm is folded into convolutions and linear layers.
TORCH_API Module optimize_for_inference(Module& module, const std::vector<std::string>& other_methods = {});

/// Whether methods are inlined where they are called while a source is compiled. Kept as it is set: here they are
/// inlined when a graph is made ready to run.
TORCH_API bool& getInlineEverythingMode();

template <class Policy>
slot_list_impl<Policy>::slot_list_impl(const Module& module, bool recurse, bool return_module)
    : slot_list_impl(module._ivalue(), recurse, return_module) {}

namespace detail {

inline Module ModulePolicy::create(const SlotWalk& walk) {
  return Module(walk.value().toObject());
}

} // namespace detail

namespace script {
using Module = ::torch::jit::Module;
using ExtraFilesMap = ::torch::jit::ExtraFilesMap;
} // namespace script

} // namespace torch::jit
