// What functional graphs become: programs as texts.
#include "support.h"

#include <catch2/catch.hpp>

using torch::fused::FusedGraph;
using Catch::Matchers::Contains;

namespace {

std::string lowered(const char* text, const std::vector<at::Tensor>& inputs) {
  return FusedGraph(graph_for(text, inputs)).to_string();
}

} // namespace

TEST_CASE("A chain of pointwise operators becomes one group", "[compile]") {
  const auto x = torch::randn({4, 8}), y = torch::randn({4, 8});
  CHECK(
      lowered(
          "graph(%x, %y) { %a = aten::mul.Tensor(%x, %y) %b = aten::add.Tensor(%a, 0.5) %c = aten::relu(%b)"
          " %d = aten::mul.Tensor(%c, %x) return (%d) }",
          {x, y}) == R"(program(x: Float[4, 8], y: Float[4, 8]) {
  group 32 reads 256 B writes 128 B
    %0: Float = load x linear
    %1: Float = load y linear
    %2: Float = aten::mul.Tensor(%0, %1)
    %3: Float uniform = constant 0.5
    %4: Float = aten::add.Tensor(%2, %3)
    %5: Float = aten::relu(%4)
    %6: Float = aten::mul.Tensor(%5, %0)
    %d = %6
  return (%d)
})");
}

TEST_CASE("What is read in another order is read from memory", "[compile]") {
  const auto x = torch::randn({4, 8}), b = torch::randn({8}), t = torch::randn({8, 4});
  CHECK(
      lowered(
          "graph(%x, %b, %t) { %a = aten::add.Tensor(%x, %b) %c = aten::exp(%a) %d = aten::t(%t)"
          " %e = aten::mul.Tensor(%c, %d) %f = aten::slice.Tensor(%c, 1, 2, 8, 3) %g = aten::neg(%f)"
          " %h = aten::abs(%g) return (%e, %h) }",
          {x, b, t}) == R"(program(x: Float[4, 8], b: Float[8], t: Float[8, 4]) {
  group 32 reads 288 B writes 256 B
    %0: Float = load x linear
    %1: Float = load b [4, 8 : 0, 1]
    %2: Float = aten::add.Tensor(%0, %1)
    %3: Float = aten::exp(%2)
    %4: Float = load t [4, 8 : 1, 4]
    %5: Float = aten::mul.Tensor(%3, %4)
    %c = %3
    %e = %5
  group 8 reads 32 B writes 32 B
    %0: Float = load %c [4, 2 : 8, 3] + 2
    %1: Float = aten::neg(%0)
    %2: Float = aten::abs(%1)
    %h = %2
  return (%e, %h)
} arena 128 B)");
}

TEST_CASE("Branches that begin apart become one group when they meet", "[compile]") {
  const auto x = torch::randn({4, 8}), y = torch::randn({4, 8});
  const char* const text =
      "graph(%x, %y) { %a = aten::exp(%x) %b = aten::neg(%a) %c = aten::exp(%y) %d = aten::abs(%c)"
      " %e = aten::mul.Tensor(%b, %d) %f = aten::add.Tensor(%e, %y) return (%f, %a) }";
  CHECK(lowered(text, {x, y}) == R"(program(x: Float[4, 8], y: Float[4, 8]) {
  group 32 reads 256 B writes 256 B
    %0: Float = load x linear
    %1: Float = aten::exp(%0)
    %2: Float = aten::neg(%1)
    %3: Float = load y linear
    %4: Float = aten::exp(%3)
    %5: Float = aten::abs(%4)
    %6: Float = aten::mul.Tensor(%2, %5)
    %7: Float = aten::add.Tensor(%6, %3)
    %a = %1
    %f = %7
  return (%f, %a)
})");
  // Not where something in between reads what the first makes.
  const auto between = lowered(
      "graph(%x, %y) { %a = aten::exp(%x) %b = aten::neg(%a) %m = aten::mm(%b, %b) %c = aten::exp(%m) %d = "
      "aten::abs(%c)"
      " %e = aten::mul.Tensor(%b, %d) return (%e) }",
      {torch::randn({4, 4}), y});
  CHECK(between.find("group") != between.rfind("group"));
  // Also where it only asks what that is like.
  const auto like = lowered(
      "graph(%x, %y) { %a = aten::exp(%x) %b = aten::neg(%a) %o = aten::ones_like(%b) %c = aten::exp(%y)"
      " %d = aten::abs(%c) %e = aten::mul.Tensor(%b, %d) return (%e, %o) }",
      {x, y});
  CHECK(like.find("group") < like.find("aten::ones_like"));
}

TEST_CASE("Rows are reduced where they are made", "[compile]") {
  const auto x = torch::randn({2, 3, 16}), m = torch::randn({3, 16});
  const std::string text = lowered(
      "graph(%x, %m) { %a = aten::mul.Tensor(%x, 0.25) %b = aten::add.Tensor(%a, %m) %s = aten::_softmax(%b, -1, False)"
      " %t = aten::mean.dim(%s, [2], True) %u = aten::sub.Tensor(%s, %t) return (%u) }",
      {x, m});
  CHECK_THAT(text, Contains("group 96 rows of 16") && Contains("Float row = aten::mean.dim") && Contains("= repeat"));
  CHECK_THAT(text, !Contains("call"));
}

TEST_CASE("An operator that stays alone is called", "[compile]") {
  const auto x = torch::randn({4, 8});
  const std::string text = lowered(
      "graph(%x) { %a = aten::exp(%x) %b = aten::mm(%a, %a) %c = aten::sum(%b) return (%c) }", {torch::randn({4, 4})});
  CHECK_THAT(text, Contains("%a = call aten::exp(x)") || Contains("a = call aten::exp"));
  CHECK_THAT(text, !Contains("group"));
  CHECK(x.defined());
}

TEST_CASE("Memory of values that are no longer needed is used again", "[compile]") {
  const auto x = torch::randn({64, 64});
  const FusedGraph compiled(graph_for(
      "graph(%x) { %a = aten::mul.Tensor(%x, 2) %b = aten::exp(%a) %c = aten::mm(%b, %x) %d = aten::mul.Tensor(%c, 2)"
      " %e = aten::exp(%d) %f = aten::mm(%e, %x) %g = aten::mul.Tensor(%f, 2) %h = aten::exp(%g) %i = aten::mm(%h, %x)"
      " return (%i) }",
      {x}));
  CHECK(compiled.program().arena_bytes == 64 * 64 * 4);
}
