// The base of all modules: a tree of named parameters, buffers and submodules.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/namespace.h>
#include <csrc/nn/hooks.h>
#include <csrc/nn/modules/container/any_module_holder.h>
#include <csrc/nn/pimpl.h>
#include <csrc/ordered_dict.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::nn {

namespace detail {
struct ModuleAccess;
} // namespace detail

/// A module registers its parameters (trained), buffers (state that is not trained) and submodules under names without
/// dots; from the outside they are seen under paths such as "encoder.0.weight". It is kept in a std::shared_ptr, mostly
/// through a holder (TORCH_MODULE). Subclasses derive from Cloneable<Derived> if clone() is to work.
class TORCH_API Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction = std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  /// Without a name the module is called after its class.
  explicit Module(std::string name);
  Module();
  // In Module.cpp: else every program compiles how dictionaries are copied.
  Module(const Module&);
  Module& operator=(const Module&);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  virtual ~Module();

  /// The name given to the constructor, or that of the class, such as "torch::nn::LinearImpl".
  const std::string& name() const noexcept;

  /// A copy that shares nothing with this module, on `device` if given. Throws unless the class derives from Cloneable.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

  /// Call the function with this module and everything below it, parents first. Names start with `name_prefix`. The
  /// forms that pass pointers throw unless this module is kept in a shared_ptr.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = std::string());
  void apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix = std::string()) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix = std::string()) const;

  /// Parameters and buffers that are defined, of this module and, with `recurse`, of all below it, in the order of
  /// registration. What is registered twice comes twice.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;

  /// This module, if wanted, and all below it. `include_self` throws unless this module is kept in a shared_ptr.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(
      const std::string& name_prefix = std::string(), bool include_self = true) const;
  /// The modules registered in this one.
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  /// Training and evaluation mode, for this module and all below it. Modules start in training mode.
  virtual void train(bool on = true);
  void eval();
  virtual bool is_training() const noexcept;

  /// Convert all parameters and buffers in place.
  virtual void to(Device device, Dtype dtype, bool non_blocking = false);
  virtual void to(Dtype dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);

  /// Drops the gradients of all parameters, or fills them with zeros.
  virtual void zero_grad(bool set_to_none = true);

  /// This module as a ModuleType (a module class or a holder), or null if it is none.
  template <typename ModuleType>
  typename ModuleType::ContainedType* as() noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <typename ModuleType>
  const typename ModuleType::ContainedType* as() const noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <typename ModuleType, typename = torch::detail::disable_if_module_holder_t<ModuleType>>
  ModuleType* as() noexcept {
    return dynamic_cast<ModuleType*>(this);
  }
  template <typename ModuleType, typename = torch::detail::disable_if_module_holder_t<ModuleType>>
  const ModuleType* as() const noexcept {
    return dynamic_cast<const ModuleType*>(this);
  }

  /// Write the module and all below it to an archive, and read it back into the tensors that are there.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  /// Is there anything to save? Containers leave out children that say no.
  virtual bool is_serializable() const;

  /// Prints this module alone; operator<< prints the tree.
  virtual void pretty_print(std::ostream& stream) const;

  /// Add a tensor under a name that is not empty, has no dot and is not taken. An undefined parameter keeps the name
  /// and is seen by nobody.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  /// Add a submodule and return it.
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, std::shared_ptr<ModuleType> module) {
    register_child(std::move(name), module);
    return module;
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, ModuleHolder<ModuleType> module_holder) {
    return register_module(std::move(name), module_holder.ptr());
  }
  /// Put another submodule under a name that is taken.
  template <typename ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, std::shared_ptr<ModuleType> module) {
    replace_child(name, module);
    return module;
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, ModuleHolder<ModuleType> module_holder) {
    return replace_module(name, module_holder.ptr());
  }
  /// Takes a submodule out. Throws when there is none of that name.
  void unregister_module(const std::string& name);

  /// Add a hook (see hooks.h); hooks run in the order in which they came.
  RemovableHandle register_forward_pre_hook(ForwardPreHook hook);
  RemovableHandle register_forward_hook(ForwardHook hook);
  RemovableHandle register_full_backward_hook(BackwardHook hook);

 protected:
  using DefaultArgs = std::vector<std::pair<unsigned int, AnyValue>>;
  /// Positions and values of forward's default arguments; see FORWARD_HAS_DEFAULT_ARGS.
  virtual DefaultArgs _forward_default_args();

  OrderedDict<std::string, Tensor> parameters_;

 private:
  template <typename Derived>
  friend class Cloneable;
  friend class detail::HookedCall;
  friend struct detail::ModuleAccess;
  friend TORCH_API bool detail::has_hooks(const Module& module);
  friend TORCH_API void detail::complete_arguments(
      Module& module, const detail::AnyModuleEntry& entry, std::vector<AnyValue>& arguments);
  friend TORCH_API std::ostream& operator<<(std::ostream& stream, const Module& module);

  // Takes over what `other`, a module of the same class, holds.
  virtual void clone_(Module& other, const std::optional<Device>& device);
  // The two parts of Cloneable::clone around reset().
  void drop_state();
  void copy_state_from(const Module& source, const std::optional<Device>& device);

  void register_child(std::string name, std::shared_ptr<Module> module);
  void replace_child(const std::string& name, std::shared_ptr<Module> module);
  void apply_to_submodules(const NamedModulePointerApplyFunction& function, const std::string& name_prefix) const;
  template <typename... Target>
  void convert(Target... target);
  std::shared_ptr<Module> shared_from_this_checked() const;
  void print_tree(std::ostream& stream, const std::string& indentation) const;

  OrderedDict<std::string, Tensor> buffers_;
  OrderedDict<std::string, std::shared_ptr<Module>> children_;
  mutable c10::Indirect<std::optional<std::string>> name_;
  detail::ModuleHooks hooks_;
  bool is_training_ = true;
};

/// Prints the module and, indented, what is below it.
TORCH_API std::ostream& operator<<(std::ostream& stream, const Module& module);

namespace detail {

/// The module itself, or what a holder or pointer refers to.
template <typename M>
auto& module_of(M& module) {
  if constexpr (std::is_base_of_v<Module, M>) {
    return module;
  } else {
    return *module;
  }
}

} // namespace detail

TORCH_API serialize::OutputArchive& operator<<(
    serialize::OutputArchive& archive, const std::shared_ptr<Module>& module);
TORCH_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module);

} // namespace torch::nn
