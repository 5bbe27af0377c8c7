// Types beyond those of schemas: tensors of known dtype and sizes, interfaces, and what type variables stand for.
#include <aten/core/Tensor.h>
#include <aten/core/interface_type.h>
#include <aten/core/schema_parser.h>
#include <aten/core/tensor_type.h>
#include <aten/core/type_matching.h>
#include <aten/ops/ones.h>

#include <catch2/catch.hpp>

#include <sstream>

namespace {

std::string printed(const c10::Type& type) {
  std::ostringstream out;
  out << type;
  return out.str();
}

} // namespace

TEST_CASE("tensor types print what is known of them", "[types]") {
  const at::Tensor tensor = at::ones({2, 3});
  CHECK(printed(*c10::TensorType::get()) == "Tensor");
  CHECK(printed(*c10::TensorType::create(tensor)) == "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)");
  CHECK(printed(*c10::TensorType::create(at::ones({}, at::kLong))) == "Long(requires_grad=0, device=cpu)");
  CHECK(printed(*c10::TensorType::get()->withScalarType(at::kHalf)) == "Half(*)");
  CHECK(printed(*c10::TensorType::get()->withDim(2)) == "Tensor(*, *)");
  CHECK(c10::TensorType::create(tensor)->str() == "Tensor");
  CHECK(
      printed(*c10::TensorType::create(std::nullopt, std::nullopt, tensor.sizes(), tensor.strides(), std::nullopt)) ==
      "Tensor(2, 3, strides=[3, 1])");
}

namespace {

// The dimensions from the smallest stride to the largest; a star after those that lie densely over the one before.
std::string stride_order(const at::Tensor& tensor) {
  std::string order;
  const auto type = c10::TensorType::create(tensor);
  for (const std::optional<c10::Stride>& stride : *type->stride_properties().sizes()) {
    order += std::to_string(stride->stride_index_.value()) + (*stride->contiguous_ ? "*" : "");
    CHECK(static_cast<int64_t>(stride->stride_.value()) == tensor.stride(static_cast<int64_t>(*stride->stride_index_)));
  }
  return order;
}

} // namespace

TEST_CASE("tensor types know the order of strides", "[types]") {
  CHECK(stride_order(at::ones({2, 3, 4})) == "2*1*0*");
  CHECK(stride_order(at::ones({2, 3, 4}).transpose(0, 2)) == "0*1*2*");
  CHECK(stride_order(at::ones({4, 2, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast)) == "1*3*2*0*");
  CHECK(stride_order(at::ones({16, 4}).slice(1, 0, 4, 4)) == "10*");
  CHECK(stride_order(at::ones({6}).as_strided({2, 1, 3}, {3, 7, 1})) == "2*0*1*");
  CHECK(stride_order(at::ones({1}).expand({2, 3})) == "10");
  CHECK(stride_order(at::ones({6, 3, 1, 5, 2}).permute({0, 3, 2, 1, 4}).expand({6, 5, 4, 3, 2})) == "4*1*230*");
  CHECK(stride_order(at::ones({5}).as_strided({3, 3}, {1, 1})) == "10");

  const auto type = c10::TensorType::create(at::ones({2, 3}));
  CHECK(
      printed(*type->merge(*c10::TensorType::create(at::ones({2, 3}).t().contiguous().t()))) ==
      "Float(2, 3, requires_grad=0, device=cpu)");
  CHECK(*type->withStrides(type->stride_properties()) == *type);
  CHECK_FALSE(type->withStrides({})->isComplete());
}

TEST_CASE("tensor types are subtypes where they know more", "[types]") {
  const auto any = c10::TensorType::get();
  const auto known = c10::TensorType::create(at::ones({2, 3}));
  const auto floating = any->withScalarType(at::kFloat);
  CHECK(known->isSubtypeOf(*any));
  CHECK(known->isSubtypeOf(*floating));
  CHECK_FALSE(any->isSubtypeOf(*known));
  CHECK_FALSE(known->isSubtypeOf(*any->withScalarType(at::kLong)));
  CHECK(known->isSubtypeOf(*c10::OptionalType::ofTensor()));
  CHECK(*known == *c10::TensorType::create(at::ones({2, 3})));
  CHECK(*known != *any);
  CHECK(known->numel() == 6u);
  CHECK(known->dimensionedOnly()->sizes().size() == 2u);
  const auto merged = known->merge(*c10::TensorType::create(at::ones({2, 4})));
  CHECK(printed(*merged) == "Float(2, *, requires_grad=0, device=cpu)");
}

TEST_CASE("type variables stand for what the arguments are", "[types]") {
  const c10::FunctionSchema schema = torch::jit::parseSchema("test::append(t[] self, t el) -> t[]");
  c10::TypeEnv env;
  CHECK(c10::matchTypeVariables(schema.arguments()[0].type(), c10::ListType::ofInts(), env).success());
  CHECK(c10::matchTypeVariables(schema.arguments()[1].type(), c10::IntType::get(), env).success());
  CHECK(*c10::tryEvalTypeVariables(schema.returns()[0].type(), env) == *c10::ListType::ofInts());
  const c10::MatchTypeReturn wrong = c10::matchTypeVariables(schema.arguments()[1].type(), c10::StringType::get(), env);
  REQUIRE_FALSE(wrong.success());
  CHECK(wrong.reason() == "Type variable 't' previously matched to type int is matched to type str");
}

TEST_CASE("interfaces are implemented by what has their methods", "[types]") {
  const auto shape = c10::InterfaceType::create("test.Shape");
  shape->addMethod(torch::jit::parseSchema("area(Any self, int scale) -> float").cloneWithName("area", ""));
  const auto wider = c10::InterfaceType::create("test.Wider");
  wider->addMethod(torch::jit::parseSchema("area(Any self, int scale) -> float").cloneWithName("area", ""));
  wider->addMethod(torch::jit::parseSchema("name(Any self) -> str").cloneWithName("name", ""));
  CHECK(wider->isSubtypeOf(*shape));
  std::ostringstream why;
  CHECK_FALSE(shape->isSubtypeOfExt(*wider, &why));
  CHECK(why.str().find("does not have method 'name'") != std::string::npos);
}
