// What schemas say of memory, alone and with values.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/schema_parser.h>
#include <aten/core/tensor_type.h>
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/ir/schema_info.h>

#include <sstream>

using c10::SchemaArgType;
using c10::SchemaArgument;
using torch::utils::SchemaInfo;

namespace {

SchemaArgument in(size_t i) {
  return SchemaArgument(SchemaArgType::input, i);
}
SchemaArgument out(size_t i) {
  return SchemaArgument(SchemaArgType::output, i);
}

} // namespace

TEST_CASE(
    "Arguments and results of a set may alias, containers may hold what "
    "is in none",
    "[jit][schema]") {
  const c10::FunctionSchema add = torch::jit::parseSchema(
      "aten::f(Tensor(a!) self, Tensor other, Tensor[] "
      "list) -> (Tensor(a!), Tensor[])");
  CHECK(add.may_alias(in(0), out(0)));
  CHECK_FALSE(add.may_alias(in(1), out(0)));
  CHECK_FALSE(add.may_alias(in(2), out(1)));
  CHECK(add.may_contain_alias(in(2), out(1)));
  CHECK_FALSE(add.may_contain_alias(in(1), out(1)));
  CHECK_THROWS_WITH(add.may_alias(in(7), out(0)), Catch::Contains("Invalid index for schema") && Catch::Contains("3"));
  const c10::FunctionSchema wild = torch::jit::parseSchema("aten::f(Tensor(*) self, Tensor[] list) -> Tensor(*)");
  CHECK(wild.may_alias(in(0), out(0)));
  CHECK(wild.may_contain_alias(in(1), in(0), /*bidirectional=*/false));
  CHECK_FALSE(wild.may_contain_alias(in(0), in(1), /*bidirectional=*/false));
  CHECK(wild.may_contain_alias(in(0), in(1)));
}

TEST_CASE("Arguments that are one tensor alias, and are written to together", "[jit][schema]") {
  SchemaInfo info(
      "aten::sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar "
      "alpha=1) -> (Tensor(a!))");
  CHECK(info.is_mutable("self"));
  CHECK_FALSE(info.is_mutable("other"));
  CHECK_FALSE(info.may_alias(in(1), out(0)));
  const at::Tensor tensor = at::ones({2});
  info.addArgumentValues(std::vector<std::optional<at::IValue>>{tensor, tensor.view({1, 2})});
  CHECK(info.is_mutable("other"));
  CHECK(info.may_alias(in(0), in(1)));
  CHECK(info.may_alias(in(1), out(0)));
  CHECK_THROWS_WITH(info.addArgumentValue("another", 1), Catch::Contains("no argument named another"));
  CHECK_THROWS_AS(info.is_mutable("another"), c10::Error);
  CHECK_THROWS_AS(info.addArgumentValues(std::vector<std::optional<at::IValue>>(4)), c10::Error);
}

TEST_CASE("What a list holds may be what another argument is", "[jit][schema]") {
  SchemaInfo info("aten::f(Tensor[] list, Tensor one) -> Tensor");
  CHECK_FALSE(info.may_contain_alias(in(0), in(1)));
  const at::Tensor tensor = at::ones({2});
  info.addArgumentValue("list", c10::List<at::Tensor>({tensor}));
  info.addArgumentValue("one", tensor);
  CHECK(info.may_contain_alias(in(0), in(1), /*bidirectional=*/false));
  CHECK_FALSE(info.may_contain_alias(in(1), in(0), /*bidirectional=*/false));
}

TEST_CASE("Flags decide whether statistics are written to and numbers drawn", "[jit][schema]") {
  SchemaInfo norm(
      "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
      "running_mean, Tensor? running_var, bool "
      "training, float momentum, float eps, bool cudnn_enabled) -> Tensor");
  CHECK(norm.is_mutable());
  CHECK(norm.is_mutable("running_var"));
  CHECK_FALSE(norm.is_mutable("input"));
  norm.addArgumentValue("training", false);
  CHECK_FALSE(norm.is_mutable());
  SchemaInfo dropout("aten::dropout(Tensor input, float p, bool train) -> Tensor");
  CHECK(dropout.is_nondeterministic());
  dropout.addArgumentValue("train", false);
  CHECK_FALSE(dropout.is_nondeterministic());
  CHECK_FALSE(SchemaInfo("aten::relu(Tensor self) -> Tensor").is_nondeterministic());
}

TEST_CASE("Shapes of which some sizes are unknown", "[jit][types]") {
  const c10::SymbolicShape known(std::vector<std::optional<int64_t>>{2, 3});
  const c10::SymbolicShape partly(std::vector<std::optional<int64_t>>{2, std::nullopt});
  CHECK(known.isComplete());
  CHECK_FALSE(partly.isComplete());
  CHECK_FALSE(c10::SymbolicShape().rank());
  CHECK(*c10::SymbolicShape(std::optional<size_t>(2)).symbolicDims() == std::vector<bool>{true, true});
  CHECK(known.merge(partly).at(0).static_size() == 2);
  CHECK_FALSE(known.merge(partly).at(1).is_static());
  CHECK_THROWS_AS(partly.at(1).static_size(), c10::Error);
  CHECK_THROWS_WITH(c10::SymbolicShape().at(0), Catch::Contains("Rank isn't fixed"));
  std::ostringstream text;
  text << known << partly << c10::SymbolicShape();
  CHECK(text.str() == "(2, 3)(2, *)(*)");

  const auto type =
      c10::TensorType::create(at::kFloat, at::kCPU, known, std::vector<c10::Stride>{{1, true, 1}, {0, true, 3}}, false);
  CHECK(type->isComplete());
  CHECK(*type->strides().concrete_sizes() == std::vector<int64_t>{3, 1});
  CHECK(type->symbolic_sizes() == known);
  const auto open = c10::TensorType::create(
      at::kFloat, at::kCPU, partly, std::vector<c10::Stride>{{1, true, 1}, {0, true, std::nullopt}}, false);
  CHECK_FALSE(open->isComplete());
  CHECK(open->sizes()[0] == 2);
}

TEST_CASE("A class is refined by subtypes of its attributes", "[jit][types]") {
  const auto unit = torch::jit::compile("def f(x: Tensor) -> Tensor:\n    return x\n");
  const auto type = c10::ClassType::create("a.B", unit);
  type->addAttribute("x", c10::OptionalType::create(c10::IntType::get()));
  type->addMethod(unit->find_function(c10::QualifiedName("f")));
  const auto refined = type->refine({c10::IntType::get()});
  CHECK(*refined->getAttribute("x") == *c10::IntType::get());
  CHECK(refined->findMethod("f") == type->findMethod("f"));
  CHECK(
      *type->withContained({c10::IntType::get()})->expectRef<c10::ClassType>().getAttribute(0) == *c10::IntType::get());
  CHECK_THROWS_WITH(type->refine({c10::StringType::get()}), Catch::Contains("no subtype"));
}
