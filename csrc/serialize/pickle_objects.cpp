// Objects of classes and members of enumerations in pickles.
#include <csrc/serialize/pickler.h>

#include <aten/core/class_type.h>
#include <aten/core/enum_type.h>
#include <aten/core/function.h>
#include <c10/util/Exception.h>

#include <string>

namespace torch::serialize {

namespace {

// The method that gives the state of an object, or null. Throws where it and its counterpart do not fit together.
jit::Function* state_getter(const c10::ClassType& type) {
  jit::Function* get = type.findMethod("__getstate__");
  jit::Function* set = type.findMethod("__setstate__");
  if (!get) {
    return nullptr;
  }
  const c10::FunctionSchema& get_schema = get->getSchema();
  TORCH_CHECK(
      get_schema.arguments().size() == 1, "'__getstate__' must have 'self' as its only argument, but found ",
      get_schema.arguments().size(), " arguments");
  TORCH_CHECK(
      get_schema.returns().size() == 1, "'__getstate__' must return 1 value, but found ", get_schema.returns().size());
  if (!set) {
    return nullptr;
  }
  const c10::FunctionSchema& set_schema = set->getSchema();
  TORCH_CHECK(
      set_schema.arguments().size() == 2, "'__setstate__' must have 'self' and the state as its only arguments, but ",
      "found ", set_schema.arguments().size(), " arguments");
  const c10::Type& gives = *get_schema.returns()[0].type();
  const c10::Type& takes = *set_schema.arguments()[1].type();
  TORCH_CHECK(
      gives.isSubtypeOf(takes), "'__getstate__'s return type (", gives.annotation_str(), ") does not match ",
      "'__setstate__'s argument type (", takes.annotation_str(), ")");
  return get;
}

} // namespace

void Pickler::push_class(const c10::TypePtr& type) {
  const std::string name = type->annotation_str(type_printer_);
  const size_t dot = name.rfind('.');
  TORCH_CHECK(dot != std::string::npos, "a value of class '", name, "' cannot be saved: its name has no module");
  push_global(std::string_view(name).substr(0, dot), std::string_view(name).substr(dot + 1));
  types_.push_back(type);
}

void Pickler::push_object(const c10::IValue& value) {
  const c10::ivalue::Object& object = value.toObjectRef();
  const c10::ClassTypePtr type = object.type();
  jit::Function* getter = state_getter(*type);
  push_class(type);
  op(Opcode::EmptyTuple);
  op(Opcode::NewObj);
  if (getter) {
    push((*getter)({value}));
  } else {
    push_state(object);
  }
  op(Opcode::Build);
}

// Attributes by name.
void Pickler::push_state(const c10::ivalue::Object& object) {
  const c10::ClassType& type = *object.type();
  op(Opcode::EmptyDict);
  op(Opcode::Mark);
  for (size_t i = 0; i < type.numAttributes(); ++i) {
    static const c10::IValue none;
    const c10::IValue& value = i < object.slots().size() ? object.slots()[i] : none;
    TORCH_CHECK(
        !value.isCapsule(), "Cannot serialize custom bound C++ class ", type.name()->qualifiedName(),
        ". Please define serialization methods via def_pickle() for this class.");
    push_string(type.getAttributeName(i));
    push(value);
  }
  op(Opcode::SetItems);
}

void Pickler::push_enum(const c10::ivalue::EnumHolder& value) {
  push_class(value.type());
  push(value.value());
  op(Opcode::Reduce);
}

} // namespace torch::serialize
