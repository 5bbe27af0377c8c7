// Types of programs: unions, what two types have in common, names of classes.
#include <catch2/catch.hpp>

#include <aten/core/jit_type.h>
#include <ATen/ATen.h>
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/serialize/source_importer.h>
#include <csrc/jit/types.h>

#include <string>
#include <vector>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

std::string text(const TypePtr& type) {
  return type->annotation_str();
}

} // namespace

// What PyTorch 2.15 gives for torch._C.UnionType([...]).
TEST_CASE("Members of a union are flat, and none takes in another", "[jit][types]") {
  const TypePtr i = IntType::get(), f = FloatType::get(), s = StringType::get(), none = NoneType::get();
  const TypePtr optional = OptionalType::create(i);
  CHECK(text(UnionType::create({optional, OptionalType::create(f)})) == "Union[float, int, NoneType]");
  CHECK(
      text(UnionType::create({s, TupleType::create({optional, i}), TupleType::create({i, i})})) ==
      "Union[Tuple[Optional[int], int], str]");
  CHECK(text(UnionType::create({i, f})) == "Union[float, int]");
  CHECK(text(UnionType::create({TensorType::get(), i, f, ComplexType::get(), s})) == "Union[Tensor, str, number]");
  CHECK(
      text(UnionType::create({UnionType::create({i, s}), OptionalType::create(f)})) ==
      "Union[float, int, NoneType, str]");
  CHECK(text(UnionType::create({ListType::ofInts(), ListType::ofFloats()})) == "Union[List[float], List[int]]");
  CHECK(text(UnionType::create({none, s, i})) == "Union[int, NoneType, str]");
  CHECK_THROWS_WITH(UnionType::create({i, i}), Contains("two different types"));
  CHECK_THROWS_WITH(UnionType::create({AnyType::get(), i}), Contains("two different types"));
}

TEST_CASE("A number is a union of all its kinds", "[jit][types]") {
  const TypePtr all = UnionType::create({IntType::get(), FloatType::get(), ComplexType::get()});
  const TypePtr more = UnionType::create({all, NoneType::get()});
  const TypePtr number = NumberType::get();
  CHECK(number->isSubtypeOf(*all));
  CHECK(all->isSubtypeOf(*number));
  CHECK(*all == *number);
  CHECK(number->isSubtypeOf(*more));
  CHECK_FALSE(more->isSubtypeOf(*number));
  CHECK_FALSE(*more == *number);
  CHECK_FALSE(number->isSubtypeOf(*UnionType::create({IntType::get(), FloatType::get()})));
}

TEST_CASE("Futures and tensors have what both have", "[jit][types]") {
  const auto unified = unifyTypes(FutureType::create(IntType::get()), FutureType::create(NoneType::get()));
  REQUIRE(unified);
  CHECK(text(*unified) == "Future[Optional[int]]");
  CHECK_FALSE(unifyTypes(FutureType::create(IntType::get()), FutureType::create(StringType::get())));
  const auto floats = TensorType::get()->withScalarType(at::kFloat);
  const auto tensors = unifyTypes(floats->withDim(2), floats->withDim(3));
  REQUIRE(tensors);
  CHECK((*tensors)->expectRef<TensorType>().scalarType() == at::kFloat);
  CHECK_FALSE((*tensors)->expectRef<TensorType>().dim());
}

TEST_CASE("Messages tell classes of one name by their compilation unit", "[jit][types]") {
  const auto unit = std::make_shared<CompilationUnit>();
  const auto type = ClassType::create("a.B", unit);
  CHECK_THAT(type->repr_str(), Catch::StartsWith("a.B (of Python compilation unit at: 0x"));
  CHECK(type->str() == "a.B");
  CHECK(type->annotation_str() == "a.B");
}

TEST_CASE("Classes of a source file may be indented by any number of spaces", "[jit][serialize]") {
  for (const std::string indent : {"  ", "    ", "   "}) {
    CAPTURE(indent.size());
    const auto unit = std::make_shared<CompilationUnit>();
    const auto source = std::make_shared<Source>(
        "\nclass Two(ModuleInterface):\n" + indent + "def one(self, x: Tensor) -> Tensor:\n" + indent + "    pass\n" +
        indent + "def two(self) -> int:\n" + indent + "    pass\n");
    const std::vector<at::IValue> constants;
    SourceImporter importer(
        unit, &constants, [&](const std::string&) { return source; }, /*version=*/2);
    const TypePtr type = importer.loadType(c10::QualifiedName("__torch__.Two"));
    REQUIRE(type);
    CHECK(type->expectRef<InterfaceType>().is_module());
    CHECK(type->expectRef<InterfaceType>().getMethod("two"));
  }
}

// As PyTorch 1.0 and 1.1 wrote them.
TEST_CASE("The __init__ of an imported class declares its attributes", "[jit][serialize]") {
  const auto unit = std::make_shared<CompilationUnit>();
  const auto source = std::make_shared<Source>(R"(
class Inner:
    def __init__(self, y):
        self.y = y

class Outer:
    def __init__(self, x):
        self.inner = __torch__.Inner(x)
        self.n = 3
        self.x = self.inner.y + x
    def scaled(self, k: int):
        return self.x * k

class Late:
    def __init__(self, x):
        if bool(x):
            self.x = x
)");
  const std::vector<at::IValue> constants;
  SourceImporter importer(
      unit, &constants, [&](const std::string&) { return source; }, /*version=*/2);
  const TypePtr outer = importer.loadType(c10::QualifiedName("__torch__.Outer"));
  REQUIRE(outer);
  const ClassType& type = outer->expectRef<ClassType>();
  REQUIRE(type.numAttributes() == 3);
  CHECK(text(type.getAttribute("inner")) == "__torch__.Inner");
  CHECK(text(type.getAttribute("n")) == "int");
  CHECK(text(type.getAttribute("x")) == "Tensor");
  CHECK(unit->get_class(c10::QualifiedName("__torch__.Inner"))->hasAttribute("y"));

  auto object = c10::ivalue::Object::create(c10::StrongTypePtr(unit, outer->expect<ClassType>()), 3);
  type.getMethod("__init__")({object, at::full({2}, 2.0)});
  CHECK(object->getAttr("x").toTensor().sum().item<double>() == 8);
  CHECK(type.getMethod("scaled")({object, 3}).toTensor().sum().item<double>() == 24);
  CHECK_THROWS_WITH(
      importer.loadType(c10::QualifiedName("__torch__.Late")),
      Contains("First assignment cannot be in a control-flow block"));
}
