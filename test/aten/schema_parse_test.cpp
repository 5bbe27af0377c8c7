#include <aten/core/schema_parser.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>

using c10::FunctionSchema;
using c10::TypeKind;
using torch::jit::parseSchema;

namespace {

// Schemas of PyTorch that between them use the whole grammar.
const char* const kSchemas[] = {
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
    "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
    "aten::tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> Tensor(a)[]",
    "aten::cpu(Tensor(a) self) -> Tensor(b|a)",
    "aten::_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
    "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    "aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? "
    "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
    "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor",
    "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool "
    "ceil_mode=False) -> Tensor",
    "aten::roll(Tensor self, int[1] shifts, int[1] dims=[1]) -> Tensor",
    "aten::linalg_lu_factor_ex.out(Tensor A, *, bool pivot=True, bool check_errors=False, Tensor(a!) LU, Tensor(b!) "
    "pivots, Tensor(c!) "
    "info) -> (Tensor(a!) LU, Tensor(b!) pivots, Tensor(c!) info)",
    "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    "aten::batch_norm_eps(float eps=1.0000000000000001e-05, float[] more=[0.5, 2.]) -> ()",
    "aten::split.str(str self, str? separator=None, int max=-1) -> str[]",
    "aten::strip(str self, str chars=\" \\n\\t\\f\\v\") -> str",
    "aten::quote(str chars=\"\\\"\\'\\\\\") -> str",
    "aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)",
    "aten::get.complex(Dict(complex, t) self, complex key) -> t(*)?",
    "aten::setdefault.complex(Dict(complex, t)(a!) self, complex(b -> *) key, t(c -> *) default_value) -> t(*)",
    "aten::popitem.Tensor(Dict(Tensor, t)(a!) self) -> ((Tensor, t))",
    "aten::items.float(Dict(float, t) self) -> ((float, t)[])",
    "aten::dict.Tensor((Tensor, tVal)[] inputs) -> Dict(Tensor, tVal)",
    "aten::wait(Future(t) self) -> t",
    "prim::rpc_sync(...) -> ...",
    "prim::Print(str head, ...) -> ()",
    "aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None) -> Tensor?[]",
    "cuda::synchronize(Device? device=None, *, AnyEnumType kind, Stream s, Storage st, QScheme q, Generator? g) -> "
    "NoneType",
    "quantized::conv2d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase weight, float scale) -> "
    "Tensor",
    "prim::any(Any x, RRef(t) r, Capsule c, SymFloat f, SymBool b) -> list",
    "complex::defaults(complex z=1.+2.j, Scalar w=0.+1.j, Scalar v=2.5) -> complex",
    "inf::defaults(float a=inf, float b=-inf, float? c=None, Device d=\"cuda:1\") -> (int, int[])",
    "old::fresh(Tensor($0!) self) -> Tensor",
};

FunctionSchema normal(const char* text) {
  return parseSchema(text);
}
std::string error_of(const char* text) {
  try {
    parseSchema(text);
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  }
  return "no error";
}

} // namespace

TEST_CASE("schemas print as they were written", "[schema]") {
  for (const char* text : kSchemas) {
    if (std::string(text).find("$0") != std::string::npos) {
      continue; // only the other way, see below
    }
    CAPTURE(text);
    const FunctionSchema schema = parseSchema(text);
    CHECK(toString(schema) == text);
    CHECK(parseSchema(toString(schema)) == schema);
  }
  CHECK(toString(parseSchema("old::fresh(Tensor! self) -> Tensor")) == "old::fresh(Tensor($0!) self) -> Tensor");
}

TEST_CASE("shorter spellings mean the same", "[schema]") {
  const auto same = [](const char* shorter, const char* normal) { CHECK(toString(parseSchema(shorter)) == normal); };
  same("x::f( int  a,int b = 2 )->(int)", "x::f(int a, int b=2) -> int");
  same("x::f(int[2] a=3, int[3]? b=1) -> ()", "x::f(int[2] a=3, int[3]? b=1) -> ()");
  same("x::f(int[2] a=[3,3]) -> ()", "x::f(int[2] a=3) -> ()");
  same("x::f(SymInt[2] a=1) -> ()", "x::f(SymInt[2] a=[1, 1]) -> ()");
  same(
      "x::f(MemoryFormat m=channels_last, Layout l=strided, int r=Mean, int s=Sum) -> ()",
      "x::f(MemoryFormat m=2, Layout l=0, int r=1, int s=2) -> ()");
  same(
      "x::f(ScalarType t=float, ScalarType? u=long, ScalarType w=bfloat16) -> ()",
      "x::f(ScalarType t=6, ScalarType? u=4, ScalarType w=15) -> ()");
  same(
      "x::f(float x=1e-5, float y=3, float? z=1) -> ()",
      "x::f(float x=1.0000000000000001e-05, float y=3., float? z=1.) -> ()");
  same(
      "x::f(complex z=2j, complex y=1-2.5j, complex x=3) -> ()",
      "x::f(complex z=0.+2.j, complex y=1.-2.5j, complex x=3.+0.j) -> ()");
  same(
      "x::f(str s='it\\'s', str[] t=['a', \"b\"], Device d='cpu') -> ()",
      "x::f(str s=\"it\\'s\", str[] t=[\"a\", \"b\"], Device d=\"cpu\") -> ()");
  same(
      "x::f(bool[3] mask=[True,False,True], (int, float) t=(1, 2.5)) -> ()",
      "x::f(bool[3] mask=[True, False, True], (int, float) t=(1, 2.5)) -> ()");
  same("x::f(number n, DeviceIndex d, Dimname m) -> ()", "x::f(Scalar n, int d, str m) -> ()");
  same("x::f(Union[int, str] a) -> ()", "x::f(Union(int, str) a) -> ()");
  CHECK(std::isnan(parseSchema("x::f(float b=nan) -> ()").arguments()[0].default_value()->toDouble()));
}

TEST_CASE("a parsed schema says all it knows", "[schema]") {
  const FunctionSchema schema = normal(
      "aten::f.out(Tensor(a) self, int[2]? size, ScalarType dtype=float, *, Tensor(b! -> c) out, SymInt n=3) -> "
      "(Tensor(b!) first, int[])");
  CHECK(schema.name() == "aten::f");
  CHECK(schema.overload_name() == "out");
  CHECK(schema.getNamespace() == "aten");
  CHECK(schema.argumentIndexWithName("dtype") == 2);
  CHECK_FALSE(schema.argumentIndexWithName("other").has_value());
  const auto& args = schema.arguments();
  REQUIRE(args.size() == 5);
  CHECK(args[1].N() == 2);
  CHECK(args[1].type()->str() == "int[]?");
  CHECK(args[1].type()->annotation_str() == "Optional[List[int]]");
  CHECK(args[2].type()->kind() == TypeKind::IntType);
  CHECK(args[2].real_type()->kind() == TypeKind::ScalarTypeType);
  CHECK(args[2].default_value()->toScalarType() == c10::kFloat);
  CHECK_FALSE(args[2].kwarg_only());
  CHECK(args[3].kwarg_only());
  CHECK(args[3].is_out());
  CHECK(args[3].alias_info()->isWrite());
  CHECK(args[3].alias_info()->beforeSet() == c10::Symbol::fromQualString("alias::b"));
  CHECK(args[3].alias_info()->afterSets() == std::vector<c10::Symbol>{c10::Symbol::fromQualString("alias::c")});
  CHECK(schema.returns()[0].name() == "first");
  CHECK(schema.is_mutable());
  CHECK(schema.is_mutable("out"));
  CHECK_FALSE(schema.is_mutable("self"));
  CHECK_FALSE(schema.is_view());
  CHECK(normal("aten::t(Tensor(a) self) -> Tensor(a)").is_view());
  CHECK(normal("aten::chunk(Tensor(a -> *) self, int n) -> Tensor(a)[]").is_view());
  CHECK(normal("aten::chunk(Tensor(a -> *) self) -> Tensor").arguments()[0].alias_info()->isWildcardAfter());
  CHECK(toString(schema.cloneWithRealTypes(false)).find("int n=3") != std::string::npos);
  const auto optional = [](const c10::TypePtr& type) -> c10::TypePtr { return c10::OptionalType::create(type); };
  const FunctionSchema mapped = schema.cloneWithRemappedTypes(optional);
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    CHECK(*mapped.arguments()[i].type() == *optional(schema.arguments()[i].type()));
    CHECK(mapped.arguments()[i].name() == schema.arguments()[i].name());
  }
  CHECK(*mapped.returns()[0].type() == *optional(schema.returns()[0].type()));
  CHECK(toString(schema.cloneWithName("x::g", "")).rfind("x::g(", 0) == 0);
}

TEST_CASE("errors point at the place", "[schema]") {
  CHECK(
      error_of("x::f(int a=) -> ()") ==
      "expected a number but found ')' here:\n"
      "x::f(int a=) -> ()\n"
      "           ~ <--- HERE");
  CHECK(
      error_of("x::f(int a -> ()") ==
      "expected ')' but found '->' here:\n"
      "x::f(int a -> ()\n"
      "           ~~ <--- HERE");
  CHECK(
      error_of("x::f(int a,\n     Tensr b) -> ()").find("     Tensr b) -> ()\n     ~~~~~ <--- HERE") !=
      std::string::npos);
  const std::pair<const char*, const char*> wrong[] = {
      {"x::f(Tensr a) -> ()", "unknown type specifier"},
      {"x::f(int a) -> int b c", "expected the end but found 'c'"},
      {"x::f(int a)", "expected '->' but found the end"},
      {"x::f(int) -> int", "expected the name of the argument but found ')'"},
      {"x::f(int a=1.5) -> int", "expected an integer as default of type int"},
      {"x::f(int a=99999999999999999999) -> int", "does not fit into 64 bits"},
      {"x::f(bool a=1) -> int", "expected True or False but found '1'"},
      {"x::f(int[] a=1) -> int", "needs a list size"},
      {"x::f(str a=\"b) -> int", "this string has no end"},
      {"x::f(Tensor a=1) -> int", "can have no default but None"},
      {"x::f(int a, *, int b, *, int c) -> int", "'*' can only be used once"},
      {"x::f(..., int b) -> int", "nothing may follow '...'"},
      {"x::f(int a=1, int b) -> int", "Non-default positional argument follows default argument. Parameter b"},
      {"x::f.default(int a) -> int", "default is not a legal overload name for aten operators"},
      {"x::f(Dict(Tensor[], int) d) -> int", "Cannot create dict for key type 'Tensor[]'"},
      {"x::f(Tensor(a b) -> int", "expected ')' but found 'b'"},
      {"x::", "expected an operator name but found the end"},
      {"", "expected an operator name but found the end"},
      {"x::f((int, int) t=(1)) -> int", "too few values"},
  };
  for (const auto& [text, says] : wrong) {
    CAPTURE(text);
    CHECK_THAT(error_of(text), Catch::Matchers::Contains(says));
  }
  CHECK_THROWS_WITH(
      parseSchema("x::f(tVal a) -> ()", false), Catch::Matchers::Contains("type variable 'tVal' is not allowed here"));
  CHECK_THROWS_WITH(parseSchema("x::f"), Catch::Matchers::Contains("only the operator name was given"));
  CHECK(torch::jit::parseName("x::f.g") == c10::OperatorName("x::f", "g"));
  CHECK_THROWS_WITH(torch::jit::parseName("x::f() -> ()"), Catch::Matchers::Contains("function schema was given"));
}

TEST_CASE("random text never crashes the parser", "[schema]") {
  uint32_t state = 12345;
  const auto next = [&] { return state = state * 1664525u + 1013904223u, state >> 8; };
  for (const char* text : kSchemas) {
    for (int i = 0; i < 60; ++i) {
      std::string broken = text;
      const size_t at = next() % broken.size();
      switch (next() % 3) {
        case 0:
          broken.erase(at, next() % 5);
          break;
        case 1:
          broken.insert(at, 1, "()[]?*!|,.=\"'->:1a"[next() % 17]);
          break;
        default:
          broken = broken.substr(0, at);
      }
      try {
        parseSchema(broken);
      } catch (const c10::Error&) {
        SUCCEED();
      }
    }
  }
}

TEST_CASE("inputs are completed and checked by a schema", "[schema]") {
  const FunctionSchema schema = normal("x::f(int a, float b=2., *, str c=\"z\") -> int");
  std::vector<c10::IValue> inputs{1};
  schema.checkAndNormalizeInputs(inputs);
  REQUIRE(inputs.size() == 3);
  CHECK(inputs[1].toDouble() == 2.0);
  CHECK(inputs[2].toStringRef() == "z");
  inputs = {1};
  schema.checkAndNormalizeInputs(inputs, {{"c", "y"}});
  CHECK(inputs[2].toStringRef() == "y");
  const auto fails = [&](std::vector<c10::IValue> values, std::unordered_map<std::string, c10::IValue> named,
                         const char* says) {
    CHECK_THROWS_WITH(schema.checkAndNormalizeInputs(values, named), Catch::Matchers::Contains(says));
  };
  fails({}, {}, "missing value for argument 'a'");
  fails({1.5}, {}, "Expected a value of type 'int' for argument 'a' but instead found type 'float'");
  fails({1}, {{"d", 1}}, "Unknown keyword argument 'd'");
  fails({1}, {{"a", 1}}, "Argument 'a' specified both as positional and keyword argument");
  fails({1, 2.0, "x", 4}, {}, "Expected at most 3 argument(s)");
}

TEST_CASE("backward compatibility of schemas", "[schema]") {
  const FunctionSchema old = normal("x::f(Tensor a, int n=1) -> Tensor");
  std::ostringstream why;
  CHECK(normal("x::f(Tensor a, int n=1, bool more=False) -> Tensor").isBackwardCompatibleWith(old));
  CHECK(normal("x::f(Tensor? a, int n=1) -> Tensor").isBackwardCompatibleWith(old));
  CHECK_FALSE(normal("x::f(Tensor a, int n=2) -> Tensor").isBackwardCompatibleWith(old, &why));
  CHECK_THAT(why.str(), Catch::Matchers::Contains("argument 'n': the default changed"));
  CHECK_FALSE(normal("x::f(Tensor a, int n=1, *, bool more) -> Tensor").isBackwardCompatibleWith(old));
  CHECK_FALSE(normal("x::f(Tensor a) -> Tensor").isBackwardCompatibleWith(old));
}
