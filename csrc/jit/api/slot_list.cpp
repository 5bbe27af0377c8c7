// The walk through what modules hold.
#include <csrc/jit/api/slot_list.h>

#include <aten/core/class_type.h>
#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::jit::detail {

namespace {

using ObjectPtr = c10::intrusive_ptr<c10::ivalue::Object>;

// A slot of the class that was added after the object was made has no value yet.
const c10::IValue& slot_value(const ObjectPtr& module, size_t slot) {
  static const c10::IValue none;
  return slot < module->slots().size() ? module->slots()[slot] : none;
}

bool holds_module(const c10::IValue& value, const c10::ClassType& type, size_t slot) {
  return type.getAttribute(slot)->is_module() && value.isObject();
}

} // namespace

SlotWalk::SlotWalk(ObjectPtr root, bool recurse, bool return_module, Valid valid) : recurse_(recurse), valid_(valid) {
  cursors_.push_back({std::move(root), return_module ? -1 : 0});
  while (!at_end() && !is_valid()) {
    step();
  }
}

c10::IValue SlotWalk::value() const {
  TORCH_CHECK(!at_end(), "an iterator at the end of a module's list has no value");
  const SlotCursor& top = cursors_.back();
  return top.slot < 0 ? c10::IValue(top.module) : slot_value(top.module, static_cast<size_t>(top.slot));
}

std::string SlotWalk::name() const {
  std::string name;
  for (const SlotCursor& cursor : cursors_) {
    if (cursor.slot >= 0) {
      name += (name.empty() ? "" : ".") + cursor.module->type()->getAttributeName(static_cast<size_t>(cursor.slot));
    }
  }
  return name;
}

void SlotWalk::next() {
  if (at_end()) {
    return;
  }
  do {
    step();
  } while (!at_end() && !is_valid());
}

bool SlotWalk::is_valid() const {
  const SlotCursor& top = cursors_.back();
  if (top.slot < 0) {
    return true;
  }
  const auto slot = static_cast<size_t>(top.slot);
  const c10::ClassTypePtr type = top.module->type();
  return slot < type->numAttributes() && valid_(*type, slot, slot_value(top.module, slot));
}

void SlotWalk::step() {
  SlotCursor& top = cursors_.back();
  if (top.slot < 0) {
    ++top.slot;
    return;
  }
  const auto slot = static_cast<size_t>(top.slot);
  const c10::ClassTypePtr type = top.module->type();
  if (slot >= type->numAttributes()) {
    cursors_.pop_back();
    if (!at_end()) {
      ++cursors_.back().slot;
    }
    return;
  }
  const c10::IValue& value = slot_value(top.module, slot);
  if (!recurse_ || !holds_module(value, *type, slot)) {
    ++top.slot;
    return;
  }
  ObjectPtr inner = value.toObject();
  const bool contains_itself =
      std::any_of(cursors_.begin(), cursors_.end(), [&](const SlotCursor& cursor) { return cursor.module == inner; });
  TORCH_CHECK(!contains_itself, "module ", inner->name(), " contains itself, at '", name(), "'");
  cursors_.push_back({std::move(inner), 0});
}

// ---- what belongs to a list -----------------------------------------------------------------------------------------

bool ModulePolicy::valid(const c10::ClassType& type, size_t slot, const c10::IValue& value) {
  return holds_module(value, type, slot);
}

bool ParameterPolicy::valid(const c10::ClassType& type, size_t slot, const c10::IValue& value) {
  return type.is_parameter(slot) && value.isTensor();
}

bool BufferPolicy::valid(const c10::ClassType& type, size_t slot, const c10::IValue& value) {
  return type.is_buffer(slot) && value.isTensor() && type.getAttribute(slot)->isSubtypeOf(*c10::TensorType::get());
}

bool AttributePolicy::valid(const c10::ClassType&, size_t, const c10::IValue&) {
  return true;
}

} // namespace torch::jit::detail
