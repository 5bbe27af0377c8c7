// Functional graphs that write again where the memory is free: texts before and after.
#include <catch2/catch.hpp>

#include <csrc/functionalize/reinplace.h>
#include <torch/fx.h>

using Catch::Matchers::Contains;
using torch::fx::Graph;

namespace test {

TEST_CASE("Operators write to tensors that nobody reads again", "[aot][reinplace]") {
  const auto graph = Graph::parse(R"(graph(%x: float32[4]) {
    %a: float32[4] = aten::add.Scalar(%x, 1)
    %b: float32[4] = aten::relu(%a)
    %c: float32[4] = aten::mul.Tensor(%b, %x)
    %d: float32[4] = aten::add.Tensor(%c, %b)
    return (%d)
  })");
  CHECK(torch::functionalize::reinplace(*graph) == 2);
  // %x is not the graph's own, and %b is read after %c is made.
  const std::string text = graph->to_string();
  CHECK_THAT(text, Contains("aten::add.Scalar(%x") && Contains("aten::relu_(%a)"));
  CHECK_THAT(text, Contains("aten::mul.Tensor(") && Contains("aten::add_.Tensor("));
}

TEST_CASE("Results, views and other dtypes are left alone", "[aot][reinplace]") {
  const auto graph = Graph::parse(R"(graph(%x: float32[4]) {
    %a: float32[4] = aten::exp(%x)
    %v: float32[2] = aten::slice.Tensor(%a, 0, 0, 2)
    %b: float32[4] = aten::relu(%a)
    %c: float32[2] = aten::neg(%v)
    %d: bool[4] = aten::gt.Scalar(%b, 0)
    %e: float32[4] = aten::sin(%x)
    %f: float32[4] = aten::cos(%e)
    return (%c, %d, %e, %f)
  })");
  CHECK(torch::functionalize::reinplace(*graph) == 0);
}

TEST_CASE("What an input is to hold is made in it", "[aot][reinplace]") {
  const auto graph = Graph::parse(R"(graph(%p: float32[4], %g: float32[4]) {
    %s: float32[4] = aten::mul.Scalar(%p, 0.5)
    %a: float32[4] = aten::add.Tensor(%s, %g)
    %copy_: float32[4] = aten::copy_(%p, %a)
    return ()
  })");
  CHECK(torch::functionalize::reinplace(*graph) == 2);
  const std::string text = graph->to_string();
  CHECK_THAT(text, Contains("aten::mul_.Scalar(%p, 0.5)") && Contains("aten::add_.Tensor("));
  CHECK_THAT(text, !Contains("aten::copy_"));
  // Not where the old value is read behind, or where the value is a result too.
  const auto kept = Graph::parse(R"(graph(%p: float32[4]) {
    %s: float32[4] = aten::mul.Scalar(%p, 0.5)
    %old: float32[4] = aten::exp(%p)
    %copy_: float32[4] = aten::copy_(%p, %s)
    return (%old)
  })");
  CHECK(torch::functionalize::reinplace(*kept) == 0);
  const auto returned = Graph::parse(R"(graph(%p: float32[4]) {
    %s: float32[4] = aten::mul.Scalar(%p, 0.5)
    %copy_: float32[4] = aten::copy_(%p, %s)
    return (%s)
  })");
  CHECK(torch::functionalize::reinplace(*returned) == 0);
}

} // namespace test
