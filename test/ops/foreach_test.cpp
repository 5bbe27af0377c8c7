// Operators over lists of tensors do for each tensor what the single operator does, functional and in place.

#include <ATen/ATen.h>

#include <catch2/catch.hpp>

#include "test/ops/boxed_op.h"
#include "test/ops/samples.h"
#include "test/support/compare.h"

namespace test {

namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;

Tensors some_tensors(Random& random) {
  // Within the domain of every function here.
  return {
      random.tensor(c10::ScalarType::Float, {2, 2}, 0.1, 0.9), random.tensor(c10::ScalarType::Float, {3}, 0.1, 0.9),
      random.tensor(c10::ScalarType::Double, {}, 0.1, 0.9), random.tensor(c10::ScalarType::Float, {0, 2})};
}

void check_equal(const std::string& name, const Tensors& got, const Tensors& want) {
  INFO(name);
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(first_difference(got[i], want[i], Tolerance{0, 0}) == "");
  }
}

/// `_foreach_NAME` and `_foreach_NAME_` of `lists` and `more` against the single operator with the i-th of each list
/// and single_more(i).
void check_list_operator(
    const std::string& foreach_name,
    const std::string& overload,
    const std::string& single,
    const std::vector<Tensors>& lists,
    const Stack& more,
    const std::function<Stack(size_t)>& single_more) {
  const auto find = [](const std::string& name) {
    INFO(name);
    const auto op = BoxedOp::find(name);
    REQUIRE(op.has_value());
    return *op;
  };
  const std::string dot = overload.empty() ? "" : "." + overload;
  const BoxedOp functional = find("_foreach_" + foreach_name + dot),
                inplace = find("_foreach_" + foreach_name + "_" + dot);
  const BoxedOp one = find(single);

  const auto stack_of = [&](const std::vector<Tensors>& all) {
    Stack args;
    for (const Tensors& list : all) {
      args.push_back(tensors(list));
    }
    args.insert(args.end(), more.begin(), more.end());
    return args;
  };
  const auto clones = [&] {
    std::vector<Tensors> copies;
    for (const Tensors& list : lists) {
      copies.emplace_back();
      for (const Tensor& t : list) {
        copies.back().push_back(t.clone());
      }
    }
    return copies;
  };
  Tensors want;
  for (size_t i = 0; i < lists[0].size(); ++i) {
    Stack args;
    for (const Tensors& list : lists) {
      args.emplace_back(list.at(i));
    }
    for (const c10::IValue& value : single_more(i)) {
      args.push_back(value);
    }
    want.push_back(one.tensors(one.complete(args)).at(0));
  }
  check_equal(foreach_name + dot, functional.tensors(functional.complete(stack_of(lists))), want);

  const std::vector<Tensors> written = clones();
  inplace.call(inplace.complete(stack_of(written)));
  check_equal(foreach_name + "_" + dot, written[0], want);
}

Stack no_more(size_t) {
  return {};
}

constexpr const char* kUnary[] = {"abs",   "acos", "asin",  "atan",       "ceil",  "cos",    "cosh",    "erf",
                                  "erfc",  "exp",  "expm1", "floor",      "frac",  "lgamma", "log",     "log10",
                                  "log1p", "log2", "neg",   "reciprocal", "round", "rsqrt",  "sigmoid", "sign",
                                  "sin",   "sinh", "sqrt",  "tan",        "tanh",  "trunc"};

} // namespace

TEST_CASE("foreach operators of one list do what the single ones do", "[ops][foreach]") {
  Random random(1);
  for (const std::string name : kUnary) {
    check_list_operator(name, "", name, {some_tensors(random)}, {}, no_more);
  }
}

TEST_CASE("foreach operators of two lists, numbers and lists of numbers do what the single ones do", "[ops][foreach]") {
  struct Binary {
    const char* name;
    const char* single_tensor;
    const char* single_scalar;
  };
  constexpr Binary kBinary[] = {
      {"add", "add.Tensor", "add.Scalar"},
      {"sub", "sub.Tensor", "sub.Scalar"},
      {"mul", "mul.Tensor", "mul.Scalar"},
      {"div", "div.Tensor", "div.Scalar"},
      {"clamp_max", "clamp_max.Tensor", "clamp_max"},
      {"clamp_min", "clamp_min.Tensor", "clamp_min"},
      {"maximum", "clamp_min.Tensor", "clamp_min"},
      {"minimum", "clamp_max.Tensor", "clamp_max"},
      {"pow", "pow.Tensor_Tensor", "pow.Tensor_Scalar"}};
  Random random(2);
  const std::vector<double> numbers = {0.5, 0.25, 2.0, 1.5};
  c10::List<at::Scalar> list;
  for (const double number : numbers) {
    list.push_back(number);
  }
  for (const Binary& op : kBinary) {
    const Tensors x = some_tensors(random), y = some_tensors(random);
    check_list_operator(op.name, "List", op.single_tensor, {x, y}, {}, no_more);
    check_list_operator(op.name, "Scalar", op.single_scalar, {x}, {0.5}, [](size_t) { return Stack{0.5}; });
    check_list_operator(
        op.name, "ScalarList", op.single_scalar, {x}, {list}, [&](size_t i) { return Stack{numbers[i]}; });
  }
}

TEST_CASE("foreach operators of three lists do what the single ones do", "[ops][foreach]") {
  Random random(3);
  const std::vector<double> numbers = {0.5, 0.25, 2.0, 1.5};
  c10::List<at::Scalar> list;
  for (const double number : numbers) {
    list.push_back(number);
  }
  const Tensor packed = tensor_of(c10::ScalarType::Double, {4}, [&](int64_t i) { return numbers[i]; });
  const auto number = [&](size_t i) { return Stack{numbers[i]}; };
  for (const std::string name : {"addcdiv", "addcmul"}) {
    const std::vector<Tensors> lists = {some_tensors(random), some_tensors(random), some_tensors(random)};
    check_list_operator(name, "Scalar", name, lists, {0.5}, [](size_t) { return Stack{0.5}; });
    check_list_operator(name, "ScalarList", name, lists, {list}, number);
    check_list_operator(name, "Tensor", name, lists, {packed}, number);
  }
  const Tensors x = some_tensors(random), y = some_tensors(random), z = some_tensors(random);
  check_list_operator("lerp", "List", "lerp.Tensor", {x, y, z}, {}, no_more);
  check_list_operator("lerp", "Scalar", "lerp.Scalar", {x, y}, {0.25}, [](size_t) { return Stack{0.25}; });
  check_list_operator("lerp", "ScalarList", "lerp.Scalar", {x, y}, {list}, number);
}

TEST_CASE("foreach operators with one tensor for all, norms and copies", "[ops][foreach]") {
  Random random(4);
  const Tensor one = tensor_of(c10::ScalarType::Float, {}, [](int64_t) { return 0.5; });
  for (const std::string name : {"add", "mul", "div"}) {
    check_list_operator(
        name, "Tensor", name + ".Tensor", {some_tensors(random)}, {one}, [&](size_t) { return Stack{one}; });
  }
  const Tensors x = some_tensors(random);
  const Tensors norms = at::_foreach_norm(x, 3);
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(first_difference(norms[i], at::linalg_vector_norm(x[i], 3), Tolerance{0, 0}) == "");
  }
  Tensors y = some_tensors(random);
  at::_foreach_copy_(y, x);
  check_equal("copy_", y, x);
  at::_foreach_zero_(y);
  for (const Tensor& t : y) {
    CHECK(t.count_nonzero().item<int64_t>() == 0);
  }
}

TEST_CASE("foreach operators refuse lists that do not fit", "[ops][foreach][errors]") {
  const Tensors two = {at::ones({2}), at::ones({3})}, one = {at::ones({2})};
  CHECK_THROWS_WITH(
      at::_foreach_add(two, one), Catch::Contains("Tensor lists must have the same number of tensors, got 2 and 1"));
  CHECK_THROWS_WITH(
      at::_foreach_mul(two, std::vector<at::Scalar>{1}),
      Catch::Contains("Tensor list must have same number of elements as scalar list"));
  CHECK_THROWS_WITH(at::_foreach_add(two, at::ones({2})), Catch::Contains("scalar tensor expected to be 0 dim"));
  CHECK_THROWS_WITH(at::_foreach_mul(two, at::ones({1})), Catch::Contains("scalar tensor expected to be 0 dim"));
  CHECK_THROWS_WITH(
      at::_foreach_addcmul(two, two, two, at::ones({3})),
      Catch::Contains("Expected length of scalars to match input of length 2"));
}

TEST_CASE("gradients flow through foreach operators", "[ops][foreach][gradients]") {
  Tensors x = {at::full({2}, 0.5).requires_grad_(true), at::full({3}, 2.0).requires_grad_(true)};
  const Tensors y = at::_foreach_mul(at::_foreach_exp(x), std::vector<at::Scalar>{2, 3});
  (y[0].sum() + y[1].sum()).backward();
  CHECK(at::allclose(x[0].grad(), 2 * x[0].detach().exp()));
  CHECK(at::allclose(x[1].grad(), 3 * x[1].detach().exp()));
}

} // namespace test
