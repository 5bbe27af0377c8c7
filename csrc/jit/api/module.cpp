// Modules: members, lists of them, mode, device and dtype.
#include <csrc/jit/api/module.h>

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/module_object.h>

#include <mutex>
#include <utility>

namespace torch::jit {

Module::Module(c10::QualifiedName class_name) : Module(std::move(class_name), std::make_shared<CompilationUnit>()) {}

Module::Module(std::shared_ptr<CompilationUnit> cu, const c10::ClassTypePtr& type) : Object(std::move(cu), type) {}

Module::Module(c10::QualifiedName class_name, std::shared_ptr<CompilationUnit> cu, bool shouldMangle)
    : Object(make_object_of_new_class(std::move(class_name), std::move(cu), shouldMangle, /*is_module=*/true)) {}

void Module::set_optimized(bool) {
  TORCH_WARN(
      "Module::set_optimized() is deprecated and has no effect. "
      "Please use setGraphExecutorOptimize()");
}

bool Module::is_optimized() const {
  TORCH_WARN(
      "Module::is_optimized() is deprecated and always returns true. "
      "Please use getGraphExecutorOptimize()");
  return true;
}

c10::IValue Module::forward(std::vector<c10::IValue> inputs, const Kwargs& kwargs) {
  return get_method("forward")(std::move(inputs), kwargs);
}

c10::IValue Module::operator()(std::vector<c10::IValue> inputs) {
  const ObjectPtr object = _ivalue();
  const c10::ClassTypePtr type = object->type();
  const auto as_tuple = [&] { return c10::IValue(c10::ivalue::Tuple::create(inputs)); };
  for (Function* hook : type->getForwardPreHooks()) {
    const c10::IValue changed = Method(object, hook)({as_tuple()});
    if (changed.isTuple()) {
      const auto& elements = changed.toTupleRef().elements();
      inputs.assign(elements.begin(), elements.end());
    } else if (!changed.isNone()) {
      inputs = {changed};
    }
  }
  c10::IValue output = forward(inputs);
  for (Function* hook : type->getForwardHooks()) {
    c10::IValue changed = Method(object, hook)({as_tuple(), output});
    if (!changed.isNone()) {
      output = std::move(changed);
    }
  }
  return output;
}

c10::IValue Module::create_class(const c10::QualifiedName& name, Stack stack) const {
  const std::shared_ptr<CompilationUnit> cu = _ivalue()->compilation_unit();
  const c10::ClassTypePtr type = cu ? cu->get_class(name) : nullptr;
  TORCH_CHECK(type, "Could not find class with name: '", name.qualifiedName(), "' in module.");
  ObjectPtr object = make_object(cu, type);
  stack.insert(stack.begin(), c10::IValue(object));
  type->getMethod("__init__")(std::move(stack));
  return object;
}

bool Module::operator==(const Module& other) const noexcept {
  return is_same_object(other);
}

void Module::store_traced_inputs(const std::string& func_name, std::vector<c10::IValue> inputs) {
  if (inputs.empty()) {
    return;
  }
  c10::impl::GenericList list(c10::AnyType::get());
  for (c10::IValue& input : inputs) {
    list.push_back(std::move(input));
  }
  if (!traced_inputs_) {
    traced_inputs_.emplace();
  }
  traced_inputs_->insert_or_assign(func_name, std::move(list));
}

c10::Dict<std::string, c10::impl::GenericList> Module::retrieve_traced_inputs() const {
  return traced_inputs_ ? *traced_inputs_ : c10::Dict<std::string, c10::impl::GenericList>();
}

// ---- members --------------------------------------------------------------------------------------------------------

namespace {

// Classes of all modules: members are rarely registered, and seldom by several threads.
std::mutex registration;

void register_value(
    const ObjectPtr& module,
    const std::string& name,
    const c10::TypePtr& type,
    c10::IValue value,
    bool is_parameter,
    bool is_buffer) {
  const std::lock_guard<std::mutex> lock(registration);
  module->setSlot(module->type()->addOrCheckAttribute(name, type, is_parameter, is_buffer), std::move(value));
}

} // namespace

void Module::register_buffer(const std::string& name, at::Tensor v) {
  register_value(_ivalue(), name, c10::TensorType::get(), std::move(v), false, true);
}

void Module::register_parameter(const std::string& name, at::Tensor v, bool is_buffer) {
  register_value(_ivalue(), name, c10::TensorType::get(), std::move(v), !is_buffer, is_buffer);
}

void Module::register_attribute(
    const std::string& name, const c10::TypePtr& t, c10::IValue v, bool is_param, bool is_buffer) {
  TORCH_CHECK(t, "attribute '", name, "' needs a type");
  register_value(_ivalue(), name, t, std::move(v), is_param, is_buffer);
}

void Module::register_module(const std::string& name, const Module& module) {
  register_value(_ivalue(), name, module.type(), module._ivalue(), false, false);
}

// ---- lists ----------------------------------------------------------------------------------------------------------

buffer_list Module::buffers(bool recurse) const {
  return buffer_list(*this, recurse, false);
}
named_buffer_list Module::named_buffers(bool recurse) const {
  return named_buffer_list(*this, recurse, false);
}
parameter_list Module::parameters(bool recurse) const {
  return parameter_list(*this, recurse, false);
}
named_parameter_list Module::named_parameters(bool recurse) const {
  return named_parameter_list(*this, recurse, false);
}
attribute_list Module::attributes(bool recurse) const {
  return attribute_list(*this, recurse, false);
}
named_attribute_list Module::named_attributes(bool recurse) const {
  return named_attribute_list(*this, recurse, false);
}
module_list Module::children() const {
  return module_list(*this, false, false);
}
named_module_list Module::named_children() const {
  return named_module_list(*this, false, false);
}
module_list Module::modules() const {
  return module_list(*this, true, true);
}
named_module_list Module::named_modules() const {
  return named_module_list(*this, true, true);
}

// ---- all modules ----------------------------------------------------------------------------------------------------

namespace {

// Calls `visit` with each module once, however often and in how many places it is contained.
template <class Visit>
void for_each_module(const ObjectPtr& root, const Visit& visit) {
  std::unordered_set<const c10::ivalue::Object*> seen{root.get()};
  std::vector<ObjectPtr> waiting{root};
  while (!waiting.empty()) {
    const ObjectPtr module = std::move(waiting.back());
    waiting.pop_back();
    visit(module);
    for (const c10::IValue& value : module->slots()) {
      if (value.isModule() && seen.insert(&value.toObjectRef()).second) {
        waiting.push_back(value.toObject());
      }
    }
  }
}

void convert_tensors(
    const ObjectPtr& module,
    const std::optional<at::Device>& device,
    const std::optional<at::ScalarType>& dtype,
    bool non_blocking) {
  const c10::ClassTypePtr type = module->type();
  for (size_t slot = 0; slot < module->slots().size(); ++slot) {
    const c10::IValue& value = module->slots()[slot];
    if (value.isTensor() && (type->is_parameter(slot) || type->is_buffer(slot))) {
      const at::Tensor& tensor = value.toTensor();
      tensor.set_data(tensor.to(device.value_or(tensor.device()), dtype.value_or(tensor.scalar_type()), non_blocking));
    }
  }
}

} // namespace

void Module::apply(const std::function<void(Module&)>& fn) {
  for (Module module : modules()) {
    fn(module);
  }
}

void Module::train(bool on) {
  for_each_module(_ivalue(), [on](const ObjectPtr& module) {
    if (const std::optional<size_t> slot = module->type()->findAttributeSlot("training")) {
      module->setSlot(*slot, on);
    }
  });
}

bool Module::is_training() const {
  return attr("training", true).toBool();
}

void Module::to(at::Device device, at::ScalarType dtype, bool non_blocking) {
  for_each_module(_ivalue(), [&](const ObjectPtr& module) { convert_tensors(module, device, dtype, non_blocking); });
}

void Module::to(at::ScalarType dtype, bool non_blocking) {
  for_each_module(
      _ivalue(), [&](const ObjectPtr& module) { convert_tensors(module, std::nullopt, dtype, non_blocking); });
}

void Module::to(at::Device device, bool non_blocking) {
  for_each_module(
      _ivalue(), [&](const ObjectPtr& module) { convert_tensors(module, device, std::nullopt, non_blocking); });
}

// ---- what does not exist here ---------------------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse_mobile() {
  TORCH_CHECK(
      false,
      "_save_for_mobile: archives for the mobile interpreter are not written by this library. save() writes an "
      "archive that torch::jit::load reads");
}

} // namespace

void Module::_save_for_mobile(std::ostream&, const ExtraFilesMap&, bool, bool) const {
  refuse_mobile();
}

void Module::_save_for_mobile(const std::string&, const ExtraFilesMap&, bool, bool) const {
  refuse_mobile();
}

bool& getInlineEverythingMode() {
  static bool mode = false;
  return mode;
}

} // namespace torch::jit

namespace c10 {

torch::jit::Module IValue::toModule() const {
  TORCH_CHECK(isModule(), "Expected a module, but got ", tagKind());
  return torch::jit::Module(toObject());
}

} // namespace c10
