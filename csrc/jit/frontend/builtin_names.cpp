// Names that stand for something in every function.
#include <csrc/jit/frontend/sugared_value.h>

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

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
      {"min", Form::create(prim::min)},
      {"max", Form::create(prim::max)},
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
      // What archives write for nodes without a spelling in Python.
      {"annotate", Form::create(prim::annotate)},
      {"unchecked_cast", Form::create(prim::unchecked_cast)},
      {"uninitialized", Form::create(prim::Uninitialized)},
      {"fork", Form::create(prim::fork)},
      {"awaitable", Form::create(prim::awaitable)},
      {"unannotated_tensor", builtin("aten::tensor")},
      // Members of torch that are more than operators.
      {"torch.jit", std::make_shared<BuiltinModule>("torch.jit")},
      {"torch.nn", std::make_shared<BuiltinModule>("torch.nn")},
      {"torch._C", std::make_shared<BuiltinModule>("torch._C")},
      {"torch.special", std::make_shared<BuiltinModule>("torch.special")},
      {"torch.fft", std::make_shared<BuiltinModule>("torch.fft")},
      {"torch.linalg", std::make_shared<BuiltinModule>("torch.linalg")},
      {"torch.jit.annotate", Form::create(prim::annotate)},
      {"torch.jit.fork", Form::create(prim::fork)},
      {"torch.jit._fork", Form::create(prim::fork)},
      {"torch.jit.wait", builtin("aten::wait")},
      {"torch.jit._wait", builtin("aten::wait")},
      {"torch.jit.isinstance", Form::create(prim::isinstance)},
      {"torch.jit.is_scripting", std::make_shared<ConstantValue>(IValue(true))}};
  for (const char* exception :
       {"Exception", "RuntimeError", "ValueError", "TypeError", "KeyError", "IndexError", "AssertionError",
        "NotImplementedError", "AttributeError", "ZeroDivisionError", "StopIteration", "ArithmeticError", "LookupError",
        "NameError", "OSError", "OverflowError"}) {
    names.emplace(exception, std::make_shared<ExceptionValue>(exception));
  }
  return names;
}

} // namespace

SugaredValuePtr builtinName(const std::string& name) {
  static const auto& names = *new auto(make_names());
  const auto found = names.find(name);
  return found == names.end() ? nullptr : found->second;
}

std::optional<IValue> torchConstant(const std::string& name) {
  static const auto& constants = *new std::unordered_map<std::string, IValue>([] {
    std::unordered_map<std::string, IValue> all;
    const auto dtype = [&](const char* spelling, at::ScalarType type) {
      all.emplace(spelling, static_cast<int64_t>(type));
    };
    for (const auto& [spelling, type] : std::initializer_list<std::pair<const char*, at::ScalarType>>{
             {"uint8", at::kByte},
             {"int8", at::kChar},
             {"int16", at::kShort},
             {"short", at::kShort},
             {"int32", at::kInt},
             {"int", at::kInt},
             {"int64", at::kLong},
             {"long", at::kLong},
             {"float16", at::kHalf},
             {"half", at::kHalf},
             {"float32", at::kFloat},
             {"float", at::kFloat},
             {"float64", at::kDouble},
             {"double", at::kDouble},
             {"complex32", at::kComplexHalf},
             {"complex64", at::kComplexFloat},
             {"cfloat", at::kComplexFloat},
             {"complex128", at::kComplexDouble},
             {"cdouble", at::kComplexDouble},
             {"bool", at::kBool},
             {"bfloat16", at::kBFloat16},
             {"qint8", at::kQInt8},
             {"quint8", at::kQUInt8},
             {"qint32", at::kQInt32}}) {
      dtype(spelling, type);
    }
    all.emplace("strided", static_cast<int64_t>(c10::Layout::Strided));
    all.emplace("sparse_coo", static_cast<int64_t>(c10::Layout::Sparse));
    all.emplace("sparse_csr", static_cast<int64_t>(c10::Layout::SparseCsr));
    all.emplace("contiguous_format", static_cast<int64_t>(c10::MemoryFormat::Contiguous));
    all.emplace("preserve_format", static_cast<int64_t>(c10::MemoryFormat::Preserve));
    all.emplace("channels_last", static_cast<int64_t>(c10::MemoryFormat::ChannelsLast));
    all.emplace("channels_last_3d", static_cast<int64_t>(c10::MemoryFormat::ChannelsLast3d));
    all.emplace("inf", std::numeric_limits<double>::infinity());
    all.emplace("nan", std::numeric_limits<double>::quiet_NaN());
    all.emplace("pi", 3.14159265358979323846);
    all.emplace("e", 2.71828182845904523536);
    return all;
  }());
  const auto found = constants.find(name);
  return found == constants.end() ? std::nullopt : std::optional<IValue>(found->second);
}

} // namespace torch::jit
