#include <csrc/jit/runtime/autocast_context.h>

#include <aten/autocast/autocast_mode.h>
#include <aten/core/class_type.h>
#include <c10/core/Device.h>

#include <algorithm>
#include <vector>

namespace torch::jit {

namespace {

// Archives put an atom before the last where a class has several forms.
bool is_autocast(const c10::ClassType& type) {
  const std::vector<std::string>& atoms = type.name()->atoms();
  return !atoms.empty() && atoms.back() == "autocast" &&
      std::find(atoms.begin(), atoms.end(), "autocast_mode") != atoms.end() && type.hasAttribute("fast_dtype") &&
      type.hasAttribute("_enabled") && type.hasAttribute("device");
}

} // namespace

std::optional<AutocastSettings> enter_autocast(const c10::IValue& context) {
  const c10::ivalue::Object& object = context.toObjectRef();
  if (!is_autocast(*object.type())) {
    return std::nullopt;
  }
  const c10::DeviceType device = c10::Device(object.getAttr("device").toStringRef()).type();
  AutocastSettings before{
      device, at::autocast::is_autocast_enabled(device), at::autocast::get_autocast_dtype(device),
      at::autocast::is_autocast_cache_enabled()};
  at::autocast::set_autocast_enabled(device, object.getAttr("_enabled").toBool());
  at::autocast::set_autocast_dtype(device, static_cast<c10::ScalarType>(object.getAttr("fast_dtype").toInt()));
  at::autocast::increment_nesting();
  return before;
}

void leave_autocast(const AutocastSettings& before) {
  if (at::autocast::decrement_nesting() == 0) {
    at::autocast::clear_cache();
  }
  at::autocast::set_autocast_enabled(before.device, before.enabled);
  at::autocast::set_autocast_dtype(before.device, before.dtype);
  at::autocast::set_autocast_cache_enabled(before.cache_enabled);
}

} // namespace torch::jit
