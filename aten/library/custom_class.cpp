#include <aten/library/custom_class.h>

#include <c10/util/Exception.h>

namespace torch {

arg arg::operator=(const c10::IValue& rhs) && {
  value_.set(rhs);
  return std::move(*this);
}

bool isCustomClass(const c10::IValue& v) {
  return v.isCustomClass();
}

namespace detail {

void checkValidIdent(const std::string& str, const char* type) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  bool valid = !str.empty() && letter(str[0]);
  for (const char c : str) {
    valid = valid && (letter(c) || digit(c));
  }
  TORCH_CHECK(
      valid, type,
      " must be a valid Python/C++ identifier: letters, digits and underscores, not starting with a digit. Got '", str,
      "'");
}

class_base::class_base(
    const std::string& namespaceName,
    const std::string& className,
    std::string doc_string,
    const std::type_info& holder) {
  checkValidIdent(namespaceName, "Namespace name");
  checkValidIdent(className, "Class name");
  qualClassName_ = "__torch__.torch.classes." + namespaceName + "." + className;
  classTypePtr_ = registerCustomClass(
      qualClassName_, std::type_index(holder), "bound as " + namespaceName + "::" + className, doc_string);
}

namespace {

c10::FunctionSchema with_names_from(
    size_t first, const c10::FunctionSchema& schema, std::initializer_list<arg> default_args) {
  const auto& old_args = schema.arguments();
  TORCH_CHECK(
      default_args.size() == old_args.size() - first, "method ", schema.name(), " has ", old_args.size() - first,
      " arguments", first > 0 ? " beside self" : "", ", but names are given for ", default_args.size(),
      ". Give torch::arg(name) for all or for none of them.");
  std::vector<c10::Argument> new_args(old_args.begin(), old_args.begin() + static_cast<ptrdiff_t>(first));
  size_t i = first;
  for (const arg& given : default_args) {
    const c10::Argument& old = old_args[i++];
    new_args.emplace_back(given.name_, old.type(), old.real_type(), old.N(), *given.value_);
  }
  return schema.cloneWithArguments(std::move(new_args));
}

} // namespace

c10::FunctionSchema class_base::withNewArguments(
    const c10::FunctionSchema& schema, std::initializer_list<arg> default_args) {
  return with_names_from(1, schema, default_args);
}

jit::Function* class_base::add_method(
    std::string name,
    c10::FunctionSchema schema,
    std::function<void(jit::Stack&)> boxed,
    std::string doc_string,
    std::initializer_list<arg> default_args,
    bool is_static) {
  checkValidIdent(name, "Method name");
  if (default_args.size() > 0) {
    schema = with_names_from(is_static ? 0 : 1, schema, default_args);
  }
  auto method = std::make_unique<jit::BuiltinOpFunction>(
      c10::QualifiedName(qualClassName_ + "." + name), std::move(schema), std::move(boxed), std::move(doc_string));
  return registerCustomClassMethod(classTypePtr_, std::move(method), is_static);
}

void class_base::add_property(const std::string& name, jit::Function* getter, jit::Function* setter) {
  classTypePtr_->addProperty(name, getter, setter);
}

void class_base::check_pickle() const {
  const c10::FunctionSchema& get = classTypePtr_->getMethod("__getstate__").getSchema();
  const c10::FunctionSchema& set = classTypePtr_->getMethod("__setstate__").getSchema();
  TORCH_CHECK(get.arguments().size() == 1, "__getstate__ should take exactly one argument: self. Got: ", get);
  TORCH_CHECK(get.returns().size() == 1, "__getstate__ should return exactly one value for serialization. Got: ", get);
  const c10::TypePtr state = get.returns()[0].type();
  const c10::TypePtr accepted = set.arguments()[1].type();
  TORCH_CHECK(
      state->isSubtypeOf(*accepted),
      "__getstate__'s return type should be a subtype of input argument of __setstate__. Got ", state->repr_str(),
      " but expected ", accepted->repr_str());
}

} // namespace detail
} // namespace torch
