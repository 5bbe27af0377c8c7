#include <csrc/serialize/resolved_classes.h>

#include <csrc/jit/frontend/type_parser.h>
#include <c10/util/Exception.h>

namespace torch::serialize {

namespace {

/// Names of classes in tags.
struct ClassNames final : jit::Resolver {
  explicit ClassNames(ResolvedClasses& classes) : classes(classes) {}
  c10::TypePtr resolveType(const std::string& name, const jit::SourceRange&) override {
    return name.rfind("__torch__", 0) == 0 ? classes.find_class(name) : nullptr;
  }
  ResolvedClasses& classes;
};

} // namespace

uint64_t work_for(size_t pickle_size) {
  constexpr uint64_t kFreeWork = 1 << 16;
  constexpr uint64_t kWorkPerByte = 64;
  return kFreeWork + kWorkPerByte * pickle_size;
}

ResolvedClasses::ResolvedClasses(jit::TypeResolver resolver, std::optional<jit::ObjLoader> loader, uint64_t work)
    : resolver_(std::move(resolver)), loader_(std::move(loader)), values_(work) {}

c10::TypePtr ResolvedClasses::find_class(const std::string& name) {
  c10::StrongTypePtr found = resolver_(c10::QualifiedName(name));
  TORCH_CHECK(found.type_, "Unpickler: the type resolver knows no class '", name, "'");
  c10::TypePtr type = found.type_;
  found_.insert_or_assign(type.get(), std::move(found));
  return type;
}

c10::TypePtr ResolvedClasses::parse_type(const std::string& annotation) {
  return jit::TypeParser(std::make_shared<ClassNames>(*this)).parse(annotation);
}

c10::IValue ResolvedClasses::restore_type(const c10::IValue& value, const c10::TypePtr& type) {
  return values_.restore(value, type);
}

c10::IValue ResolvedClasses::make_object(const c10::ClassTypePtr& type, const c10::IValue& state) {
  const c10::StrongTypePtr& strong = found_.at(type.get());
  if (loader_) {
    return c10::IValue((*loader_)(strong, state));
  }
  return c10::IValue(object_of_attributes(strong, state, values_));
}

c10::intrusive_ptr<c10::ivalue::Object> object_of_attributes(
    const c10::StrongTypePtr& type, const c10::IValue& state, TypedValues& values) {
  const c10::ClassTypePtr object_type = type.type_->expect<c10::ClassType>();
  const std::string name = object_type->repr_str();
  TORCH_CHECK(
      state.isGenericDict(), "Unpickler: the state of an object of class ", name,
      " must be a dict of its attributes, is ", state.tagKind());
  const c10::Dict<c10::IValue, c10::IValue> attributes = state.toGenericDict();
  const size_t count = object_type->numAttributes();
  auto object = c10::ivalue::Object::create(type, count);
  for (size_t slot = 0; slot < count; ++slot) {
    const c10::ClassAttribute& attribute = object_type->getAttributes()[slot];
    const auto found = attributes.find(attribute.name);
    TORCH_CHECK(
        found != attributes.end(), "Unpickler: an object of class ", name, " has no value for its attribute '",
        attribute.name, "'");
    try {
      object->setSlot(slot, values.restore(found->value(), attribute.type));
    } catch (const c10::Error& error) {
      TORCH_CHECK(
          false, "Unpickler: attribute '", attribute.name, "' of an object of class ", name, ": ",
          error.what_without_backtrace());
    }
  }
  return object;
}

} // namespace torch::serialize
