// Names that stand for something in every function.
#include <csrc/jit/frontend/sugared_value.h>

#include <unordered_map>

namespace torch::jit {

namespace {

SugaredValuePtr builtin(const char* qualified) {
  return std::make_shared<BuiltinFunction>(Symbol::fromQualString(qualified), std::nullopt);
}

SugaredValuePtr magic(const char* method, const char* qualified) {
  return std::make_shared<MagicMethod>(method, builtin(qualified));
}

SugaredValuePtr cast(const TypePtr& type, Symbol op, const char* method) {
  return std::make_shared<MagicMethod>(method, std::make_shared<CastValue>(type, op));
}

std::unordered_map<std::string, SugaredValuePtr> make_names() {
  using Form = SpecialFormValue;
  std::unordered_map<std::string, SugaredValuePtr> names{
      {"print", std::make_shared<PrintValue>()},
      {"tuple", Form::create(prim::TupleConstruct)},
      {"float", cast(FloatType::get(), aten::Float, "__float__")},
      {"int", cast(IntType::get(), aten::Int, "__int__")},
      {"bool", cast(BoolType::get(), aten::Bool, "__bool__")},
      {"complex", cast(ComplexType::get(), aten::Complex, "__complex__")},
      {"str", cast(StringType::get(), aten::str, "__str__")},
      {"getattr", Form::create(prim::GetAttr)},
      {"hasattr", Form::create(prim::HasAttr)},
      {"isinstance", Form::create(prim::isinstance)},
      {"range", Form::create(prim::range)},
      {"zip", Form::create(prim::zip)},
      {"enumerate", Form::create(prim::enumerate)},
      {"list", Form::create(aten::list)},
      {"dict", Form::create(aten::dict)},
      {"len", magic("__len__", "aten::len")},
      {"hash", builtin("aten::hash")},
      {"hex", magic("__hex__", "aten::hex")},
      {"oct", magic("__oct__", "aten::oct")},
      {"round", magic("__round__", "aten::round")},
      {"id", builtin("prim::id")},
      {"min", builtin("prim::min")},
      {"max", builtin("prim::max")},
      {"abs", builtin("prim::abs")},
      {"all", builtin("aten::all")},
      {"any", builtin("aten::any")},
      {"divmod", builtin("aten::divmod")},
      {"sum", builtin("aten::sum")},
      {"ord", builtin("aten::ord")},
      {"chr", builtin("aten::chr")},
      {"bin", builtin("aten::bin")},
      {"pow", builtin("aten::pow")},
      {"sorted", Form::create(aten::sorted)},
      {"rangelist", builtin("prim::rangelist")},
      // Other exceptions are names of Python, which resolvers know.
      {"AssertionError", std::make_shared<ExceptionValue>("AssertionError")}};
  return names;
}

} // namespace

SugaredValuePtr builtinName(const std::string& name) {
  static const auto& names = *new auto(make_names());
  const auto found = names.find(name);
  return found == names.end() ? nullptr : found->second;
}

SugaredValuePtr archiveName(const std::string& name) {
  using Form = SpecialFormValue;
  static const auto& names = *new std::unordered_map<std::string, SugaredValuePtr>{
      {"torch", std::make_shared<BuiltinModule>("aten")},   {"ops", std::make_shared<OpsValue>()},
      {"annotate", Form::create(prim::annotate)},           {"unchecked_cast", Form::create(prim::unchecked_cast)},
      {"uninitialized", Form::create(prim::Uninitialized)}, {"fork", Form::create(prim::fork)},
      {"awaitable", Form::create(prim::awaitable)}};
  const auto found = names.find(name);
  return found == names.end() ? nullptr : found->second;
}

} // namespace torch::jit
