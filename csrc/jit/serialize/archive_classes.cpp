#include <csrc/jit/serialize/archive_classes.h>

#include <c10/util/Exception.h>
#include <csrc/jit/frontend/type_parser.h>
#include <csrc/serialize/resolved_classes.h>

namespace torch::jit {

TypePtr ArchiveClasses::find_class(const std::string& name) {
  TypePtr type = importer_->findNamedType(c10::QualifiedName(name));
  TORCH_CHECK(
      type || name.rfind("__torch__.torch.classes.quantized.", 0) != 0, "Unknown type name '", name,
      "': of quantized modules, linear layers, convolutions, embeddings and recurrent layers are supported; save "
      "others "
      "as they were before quantization");
  TORCH_CHECK(
      type, "Unknown type name '", name, "': the archive's source does not define it, and no library has bound it");
  return type;
}

TypePtr ArchiveClasses::parse_type(const std::string& annotation) {
  return TypeParser(importer_).parse(annotation);
}

IValue ArchiveClasses::restore_type(const IValue& value, const TypePtr& type) {
  return values_.restore(value, type);
}

IValue ArchiveClasses::make_object(const c10::ClassTypePtr& type, const IValue& state) {
  // Classes of libraries belong to no compilation unit: a constant of such a class must not keep the program alive.
  const c10::StrongTypePtr strong(type->compilation_unit() ? cu_ : nullptr, type);
  return IValue(objectOfState(strong, state, values_));
}

namespace {

// What __setstate__ left without a value would be read as one of the attribute's type.
void check_all_set(const c10::ivalue::Object& object) {
  const c10::ClassTypePtr type = object.type();
  for (size_t slot = 0; slot < type->numAttributes(); ++slot) {
    const c10::ClassAttribute& attribute = type->getAttributes()[slot];
    const bool has_value = slot < object.slots().size() && !object.slots()[slot].isNone();
    TORCH_CHECK(
        has_value || NoneType::get()->isSubtypeOf(*attribute.type), "The field '", attribute.name,
        "' was left uninitialized after '__setstate__', but expected a value of type '", attribute.type->repr_str(),
        "'");
  }
}

} // namespace

c10::intrusive_ptr<c10::ivalue::Object> objectOfState(
    const c10::StrongTypePtr& strong, const IValue& state, serialize::TypedValues& values) {
  const c10::ClassTypePtr type = strong.type_->expect<ClassType>();
  Function* const set_state = type->findMethod("__setstate__");
  if (!set_state) {
    return serialize::object_of_attributes(strong, state, values);
  }
  const FunctionSchema& schema = set_state->getSchema();
  TORCH_CHECK(
      schema.arguments().size() == 2, "'__setstate__' of ", type->repr_str(),
      " must have two arguments: self and the state; it has ", schema.arguments().size());
  auto object = c10::ivalue::Object::create(strong, type->numAttributes());
  (*set_state)({IValue(object), values.restore(state, schema.arguments()[1].type())});
  check_all_set(*object);
  return object;
}

} // namespace torch::jit
