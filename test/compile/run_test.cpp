// Compiled graphs give what operators give, called one by one.
#include "support.h"

#include <torch/compile.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

using torch::fused::FusedGraph;
using Catch::Matchers::Contains;

namespace {

/// Whether all results are the same, bit for bit.
bool agrees(const char* text, const std::vector<at::Tensor>& inputs) {
  const auto graph = graph_for(text, inputs);
  const FusedGraph compiled(graph);
  const auto want = interpret(graph, inputs), got = run(compiled, inputs);
  bool same = got.size() == want.size();
  for (size_t i = 0; same && i < got.size(); ++i) {
    same = same_bits(got[i], want[i]);
  }
  if (!same) {
    UNSCOPED_INFO(compiled.to_string());
  }
  return same;
}

const char* const kLight =
    "graph(%x, %y) { %a = aten::mul.Tensor(%x, %y) %b = aten::add.Tensor(%a, 0.5) %c = aten::relu(%b)"
    " %d = aten::mul.Tensor(%c, %x) return (%d) }";
const char* const kHeavy =
    "graph(%x, %y) { %a = aten::mul.Tensor(%x, %y) %b = aten::sub.Tensor(%a, 0.5) %c = aten::exp(%b)"
    " %d = aten::tanh(%c) return (%d) }";

} // namespace

TEST_CASE("Chains give the bits of their operators for all sizes and dtypes", "[compile]") {
  torch::manual_seed(1);
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}) {
    for (const int64_t n : {1, 2, 7, 8, 31, 128, 1000, 4096, 5000, 70001}) {
      const auto x = torch::randn({n}).to(dtype), y = torch::randn({n}).to(dtype);
      CHECK(agrees(kLight, {x, y}));
      CHECK(agrees(kHeavy, {x, y}));
    }
  }
  for (const auto dtype : {torch::kInt, torch::kLong, torch::kByte}) {
    const auto x = torch::randint(0, 9, {3000}).to(dtype), y = torch::randint(1, 9, {3000}).to(dtype);
    CHECK(agrees(
        "graph(%x, %y) { %a = aten::mul.Tensor(%x, %y) %b = aten::add.Tensor(%a, 3) %c = aten::floor_divide(%b, %y)"
        " %d = aten::bitwise_and.Tensor(%c, %x) return (%d) }",
        {x, y}));
  }
}

TEST_CASE("Mixed dtypes, comparisons, masks and casts", "[compile]") {
  torch::manual_seed(2);
  const auto x = torch::randn({33, 17}), i = torch::randint(-5, 5, {33, 17}), h = torch::randn({17}).to(torch::kHalf);
  CHECK(agrees(
      "graph(%x, %i, %h) { %a = aten::add.Tensor(%x, %i) %b = aten::gt.Scalar(%a, 0.25) %c = aten::mul.Tensor(%a, %h)"
      " %d = aten::where.self(%b, %c, %i) %e = aten::_to_copy(%d, dtype=bfloat16) %f = aten::mul.Tensor(%e, 0.1)"
      " %g = aten::logical_not(%b) %j = aten::masked_fill.Scalar(%f, %g, -3) return (%d, %f, %j, %b) }",
      {x, i, h}));
  const auto scalar = torch::tensor(0.3, torch::kDouble);
  CHECK(agrees(
      "graph(%x, %s) { %a = aten::mul.Tensor(%x, %s) %b = aten::add.Tensor(%s, %s) %c = aten::sub.Tensor(%a, %b)"
      " return (%c, %b) }",
      {x, scalar}));
}

TEST_CASE("Operands are broadcast, strided, transposed and of one element", "[compile]") {
  torch::manual_seed(3);
  const auto x = torch::randn({6, 50, 40}), row = torch::randn({40}), col = torch::randn({6, 50, 1}),
             mid = torch::randn({50, 1}), turned = torch::randn({40, 50, 6}).permute({2, 1, 0}),
             gaps = torch::randn({6, 100, 80}).slice(1, 0, 100, 2).slice(2, 1, 80, 2), one = torch::randn({1, 1, 1});
  const char* const text =
      "graph(%x, %r, %c, %m, %t, %g, %o) { %a = aten::add.Tensor(%x, %r) %b = aten::mul.Tensor(%a, %c)"
      " %d = aten::sub.Tensor(%b, %m) %e = aten::add.Tensor(%d, %t) %f = aten::mul.Tensor(%e, %g)"
      " %h = aten::div.Tensor(%f, %o) return (%h) }";
  CHECK(agrees(text, {x, row, col, mid, turned, gaps, one}));
  CHECK(agrees(text, {turned, row, col, mid, x, gaps, one}));
  CHECK(agrees(
      text,
      {torch::randn({6, 50, 3000}), torch::randn({3000}), col, mid, torch::randn({3000, 50, 6}).permute({2, 1, 0}),
       torch::randn({6, 100, 6000}).slice(1, 0, 100, 2).slice(2, 1, 6000, 2), one}));
}

TEST_CASE("Views are read where they lie", "[compile]") {
  torch::manual_seed(4);
  const auto x = torch::randn({8, 12});
  CHECK(agrees(
      "graph(%x) { %a = aten::exp(%x) %b = aten::view(%a, [4, 24]) %c = aten::mul.Tensor(%b, 2)"
      " %d = aten::slice.Tensor(%c, 1, 3, 21, 2) %e = aten::neg(%d) %f = aten::unsqueeze(%e, 0)"
      " %g = aten::expand(%f, [3, 4, 9]) %h = aten::add.Tensor(%g, 1) %i = aten::transpose.int(%h, 0, 2)"
      " %j = aten::clone(%i, memory_format=contiguous_format) return (%h, %i, %j, %x, %d) }",
      {x}));
  CHECK(agrees(
      "graph(%x) { %a = aten::mul.Tensor(%x, 2) %s = aten::split.Tensor(%a, 5, 1) %u = unpack -> 3(%s)"
      " %b = aten::add.Tensor(%u.0, %u.1) %c = aten::cat([%u.2, %b], 1) %d = getitem(%s, 1) return (%c, %d) }",
      {x}));
}

TEST_CASE("Softmax, normalizations and reductions in the middle of a chain", "[compile]") {
  torch::manual_seed(5);
  for (const int64_t n : {2, 5, 16, 100, 1024, 5000}) {
    const auto x = torch::randn({3, 7, n}), w = torch::randn({n}), b = torch::randn({n});
    CHECK(agrees(
        "graph(%x, %w, %b) { %a = aten::mul.Tensor(%x, 0.3) %s = aten::_softmax(%a, -1, False)"
        " %c = aten::mul.Tensor(%s, %w) return (%c) }",
        {x, w, b}));
    const std::string norm = "graph(%x, %w, %b) { %a = aten::add.Tensor(%x, %b) %n = aten::native_layer_norm(%a, [" +
        std::to_string(n) +
        "], %w, %b, 1e-05) %c = aten::add.Tensor(%n.0, %a) %d = aten::mean.dim(%c, [-1], True)"
        " %e = aten::sub.Tensor(%c, %d) %f = aten::sum.dim_IntList(%e, [2]) %g = aten::amax(%e, [2], True)"
        " %h = aten::relu(%f) return (%e, %h, %g, %n.2) }";
    CHECK(agrees(norm.c_str(), {x, w, b}));
  }
}

TEST_CASE("Values of rows that come again after some rows are read anew", "[compile]") {
  torch::manual_seed(8);
  // Tiles of rows that are no multiple of 15, of 300 elements that are.
  const auto x = torch::randn({2, 3, 5, 300}, torch::kDouble), r = torch::randn({3, 5, 1});
  CHECK(agrees(
      "graph(%x, %r) { %a = aten::neg(%x) %m = aten::mean.dim(%a, [-1], True) %d = aten::div.Tensor(%r, %m)"
      " %e = aten::mul.Tensor(%a, %d) %f = aten::exp(%e) %g = aten::sub.Tensor(%f, %d) return (%g) }",
      {x, r}));
}

TEST_CASE("Inputs that the graph writes to hold the value afterwards", "[compile]") {
  torch::manual_seed(6);
  const auto x = torch::randn({100}), y = torch::randn({100});
  const auto graph = graph_for(
      "graph(%x, %y) { %a = aten::mul.Tensor(%x, %y) %b = aten::add.Tensor(%a, %x) %c = aten::copy_(%x, %b)"
      " return (%a) }",
      {x, y});
  const auto a = x.clone(), b = x.clone();
  const auto want = interpret(graph, {a, y}), got = run(FusedGraph(graph), {b, y});
  CHECK(same_bits(want[0], got[0]));
  CHECK(same_bits(a, b));
  CHECK(!a.equal(x));
}

TEST_CASE("Operators that see a tensor's storage get a tensor of its own", "[compile]") {
  torch::manual_seed(9);
  CHECK(agrees(
      "graph(%x) { %a = aten::mul.Tensor(%x, 2) %b = aten::exp(%a) %c = aten::neg(%x) %d = aten::abs(%c)"
      " %e = aten::as_strided(%d, [2, 3], [5, 1], 2) %f = aten::copy(%e, %e) %g = aten::mm(%b, %c)"
      " %h = aten::as_strided_scatter(%d, %f, [2, 3], [5, 1], 2) return (%g, %h, %b) }",
      {torch::randn({5, 5})}));
}

TEST_CASE("Several threads give the bits of one", "[compile]") {
  torch::manual_seed(7);
  const auto x = torch::randn({1000, 300}), y = torch::randn({300});
  const int threads = torch::get_num_threads();
  const auto graph = graph_for(
      "graph(%x, %y) { %a = aten::mul.Tensor(%x, %y) %s = aten::_softmax(%a, -1, False) %b = aten::exp(%s)"
      " %c = aten::sum.dim_IntList(%b, [1], True) %d = aten::div.Tensor(%b, %c) return (%d) }",
      {x, y});
  const FusedGraph compiled(graph);
  torch::set_num_threads(1);
  const auto one = run(compiled, {x, y});
  torch::set_num_threads(3);
  const auto three = run(compiled, {x, y});
  torch::set_num_threads(threads);
  CHECK(same_bits(one[0], three[0]));
}

TEST_CASE("A tensor of other sizes than those compiled for is refused", "[compile]") {
  const auto x = torch::randn({4, 4}), y = torch::randn({4, 4});
  const FusedGraph compiled(graph_for(kLight, {x, y}));
  CHECK_THROWS_WITH(run(compiled, {x, torch::randn({4, 5})}), Contains("another tensor for y"));
  CHECK_THROWS_WITH(run(compiled, {x}), Contains("takes 2 inputs"));
  // Of other strides it is taken as it is.
  const auto turned = torch::randn({4, 4}).t();
  CHECK(run(compiled, {x, turned})[0].equal(run(compiled, {x, turned.contiguous()})[0]));
}

namespace {

/// A graph whose inputs share no memory, and which writes to some of them at its end.
torch::fused::FusedGraph compile_writing(const std::shared_ptr<torch::fx::Graph>& graph) {
  torch::capture::BackendInput input{graph, torch::capture::GraphKind::Inference};
  input.is_alone.assign(graph->placeholders().size(), true);
  return torch::fused::FusedGraph(input);
}

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options()).copy_(tensor));
  }
  return copies;
}

/// The program of a graph that does to its inputs what the operators do.
std::string written_by(const char* text, const std::vector<at::Tensor>& inputs) {
  const auto graph = graph_for(text, copies_of(inputs));
  const FusedGraph compiled = compile_writing(graph);
  auto want = copies_of(inputs), got = copies_of(inputs);
  auto want_results = interpret(graph, want), got_results = run(compiled, got);
  want.insert(want.end(), want_results.begin(), want_results.end());
  got.insert(got.end(), got_results.begin(), got_results.end());
  INFO(compiled.to_string());
  for (size_t i = 0; i < want.size(); ++i) {
    INFO(i);
    CHECK(same_bits(got[i], want[i]));
  }
  return compiled.to_string();
}

} // namespace

TEST_CASE("A loop writes to inputs in place where nothing reads them later", "[compile]") {
  torch::manual_seed(11);
  for (const int64_t n : {5, 4096, 100003}) {
    const auto w = torch::randn({n}), g = torch::randn({n}), m = torch::randn({n});
    // A step with momentum: two inputs are written, the gradient is not.
    const std::string step = written_by(
        "graph(%w, %g, %m) { %a = aten::mul.Tensor(%m, 0.9) %b = aten::add.Tensor(%a, %g)"
        " %c = aten::add.Tensor(%w, %b, alpha=-0.1) %d = aten::copy_(%m, %b) %e = aten::copy_(%w, %c) return () }",
        {w, g, m});
    CHECK_THAT(step, !Contains("copy_") && Contains("    w = %") && Contains("    m = %") && !Contains("arena"));
    CHECK_THAT(
        written_by(
            "graph(%w, %g) { %a = aten::add.Tensor(%w, %g, alpha=-0.1) %b = aten::copy_(%w, %a) return () }", {w, g}),
        !Contains("copy_"));
    // The old value is read by machine code, kernels and results that come later in the loop.
    written_by(
        "graph(%w, %g) { %a = aten::mul.Tensor(%w, %g) %b = aten::add.Tensor(%a, 1) %c = aten::lgamma(%b)"
        " %d = aten::sub.Tensor(%c, %w) %e = aten::mul.Tensor(%d, %w) %f = aten::copy_(%w, %b) return (%e) }",
        {w, g});
    // Each takes the place of the other.
    written_by(
        "graph(%w, %g) { %a = aten::add.Tensor(%w, 0.5) %b = aten::mul.Tensor(%g, 2) %c = aten::add.Tensor(%a, %b)"
        " %d = aten::copy_(%w, %b) %e = aten::copy_(%g, %a) return (%c) }",
        {w, g});
  }
}

TEST_CASE("What loops cannot write in place is copied", "[compile]") {
  torch::manual_seed(12);
  const auto w = torch::randn({40, 40}), g = torch::randn({40, 40});
  // Read in another order, or by an operator behind it, or also a result.
  written_by(
      "graph(%w, %g) { %t = aten::t(%w) %a = aten::mul.Tensor(%t, %g) %b = aten::add.Tensor(%a, %w)"
      " %c = aten::copy_(%w, %b) return () }",
      {w, g});
  written_by(
      "graph(%w, %g) { %a = aten::mul.Tensor(%w, %g) %b = aten::exp(%a) %d = aten::mm(%w, %g) %e = aten::mm(%b, %d)"
      " %c = aten::copy_(%w, %b) return (%e) }",
      {w, g});
  CHECK_THAT(
      written_by(
          "graph(%w, %g) { %a = aten::mul.Tensor(%w, %g) %b = aten::exp(%a) %c = aten::copy_(%w, %b) return (%b) }",
          {w, g}),
      Contains("copy_"));
  // In another order in memory, and of another dtype.
  written_by(
      "graph(%w, %g) { %a = aten::mul.Tensor(%g, 2) %b = aten::exp(%a) %c = aten::copy_(%w, %b) return () }",
      {w.t(), g});
  written_by(
      "graph(%w, %g) { %a = aten::mul.Tensor(%g, 2) %b = aten::exp(%a) %c = aten::copy_(%w, %b) return () }",
      {w.to(torch::kHalf), g});
  // An input that shares memory with another.
  auto both = torch::randn({8}), part = both.slice(0, 0, 4);
  const auto step = [](const at::Tensor& a, const at::Tensor& b) {
    a.mul_(2).add_(1);
    return b * 3 + 1;
  };
  const auto compiled = torch::compile(step);
  for (int i = 0; i < 4; ++i) {
    const auto want_both = both.clone();
    const auto want = step(want_both, want_both.slice(0, 0, 4));
    CHECK(same_bits(compiled(both, part), want));
    CHECK(same_bits(both, want_both));
  }
}

TEST_CASE("Large results take the memory of operands that nobody else holds", "[compile]") {
  torch::manual_seed(13);
  const auto x = torch::randn({64, 512}), g = torch::randn({64, 512});
  const char* const texts[] = {
      // An operator alone; a chain; rows, of which the operand is read again; two results over two operands.
      "graph(%x, %g) { %a = aten::silu_backward(%g, %x) return (%a) }",
      "graph(%x, %g) { %a = aten::mul.Tensor(%x, %g) %b = aten::lgamma(%a) %c = aten::add.Tensor(%b, %x) return (%c) }",
      "graph(%x, %g) { %a = aten::mul.Tensor(%x, 2) %b = aten::_softmax(%a, -1, False) %c = aten::add.Tensor(%b, %g)"
      " %d = aten::mul.Tensor(%c, %x) return (%b, %d) }",
      "graph(%x, %g) { %a = aten::mul.Tensor(%x, %g) %b = aten::exp(%a) %c = aten::sub.Tensor(%g, %b) return (%b, %c) "
      "}"};
  for (const char* const text : texts) {
    const auto graph = graph_for(text, {x, g});
    torch::capture::BackendInput input;
    input.graph = graph;
    input.saves_memory = true;
    const FusedGraph compiled(input);
    INFO(compiled.to_string());
    CHECK_THAT(compiled.to_string(), Contains(" over x") || Contains(" over g"));
    const auto want = interpret(graph, {x, g});
    const auto check = [&](std::vector<at::Tensor> inputs, bool takes) {
      std::vector<const void*> places;
      for (const at::Tensor& tensor : inputs) {
        places.push_back(tensor.const_data_ptr());
      }
      const auto got = compiled(inputs);
      bool has_taken = false;
      for (size_t i = 0; i < want.size(); ++i) {
        CHECK(same_bits(got[i], want[i]));
        has_taken |= std::find(places.begin(), places.end(), got[i].const_data_ptr()) != places.end();
      }
      CHECK(has_taken == takes);
    };
    check(copies_of({x, g}), true);
    // Held by somebody, as a tensor, by a view, or by memory from elsewhere: left as it is.
    const auto held = x.clone(), also = g.clone(), view = held.view({-1}).view({64, 512});
    check({held, also}, false);
    check({held.view({64, 512}), also.view({64, 512})}, false);
    CHECK(at::equal(view, x));
    CHECK(at::equal(also, g));
    std::vector<float> one(static_cast<size_t>(x.numel())), two(one.size());
    std::memcpy(one.data(), x.const_data_ptr(), x.nbytes());
    std::memcpy(two.data(), g.const_data_ptr(), g.nbytes());
    check({at::from_blob(one.data(), {64, 512}), at::from_blob(two.data(), {64, 512})}, false);
    CHECK(std::memcmp(one.data(), x.const_data_ptr(), x.nbytes()) == 0);
  }
}
