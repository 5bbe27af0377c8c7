// What a call costs: nanoseconds of processor time of small operator calls, one line each. Compiles against libtensor
// and against libtorch:
//   g++ -std=c++17 -O2 calls.cpp -I$INCLUDE -L$LIB -ltensor          (or -ltorch -ltorch_cpu -lc10)
// tools/bench/compare runs two such programs in turns and prints the ratios.
#include <torch/torch.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "measure.h"

namespace {

at::Tensor first(const at::Tensor& x, const at::Tensor& /*y*/) {
  return x;
}
at::Tensor mixed(const at::Tensor& x, int64_t /*n*/, double /*s*/, bool /*flag*/) {
  return x;
}

TORCH_LIBRARY(bench_calls, m) {
  m.def("first(Tensor x, Tensor y) -> Tensor");
  m.def("mixed(Tensor x, int n, float s, bool flag) -> Tensor");
}
TORCH_LIBRARY_IMPL(bench_calls, CPU, m) {
  m.impl("first", &first);
  m.impl("mixed", &mixed);
}

/// x * b + a, `steps` times: a chain of 2 * steps small operators.
at::Tensor chain(at::Tensor x, const at::Tensor& a, const at::Tensor& b, int steps) {
  for (int i = 0; i < steps; ++i) {
    x = at::add(at::mul(x, b), a);
  }
  return x;
}

// Everything that a case uses lives as long as the program.
struct Inputs {
  at::Tensor one = at::ones({1}), other = at::ones({1}), eight = at::ones({8}), row = at::ones({64});
  at::Tensor square = at::ones({8, 8}), matrix = at::ones({4, 6}), big = at::ones({16, 16}),
             ints = at::ones({4}, at::kLong);
  at::Tensor tall = at::ones({6, 4}), four = at::ones({4}), sum_to = at::zeros({1}), out = at::empty({1}),
             copied = at::ones({8});
  at::Tensor leaf = torch::ones({1}, torch::requires_grad()), leaves = torch::ones({4, 6}, torch::requires_grad());
  float data[16] = {};
  torch::jit::Stack stack;
};

void add_factories(Cases& cases, Inputs& in) {
  cases.insert(
      cases.end(),
      {{"empty({1})", [] { at::empty({1}); }},
       {"empty({32, 32})",
        [] {
          at::empty({32, 32});
        }},
       {"zeros({8, 8})",
        [] {
          at::zeros({8, 8});
        }},
       {"scalar_tensor", [] { at::scalar_tensor(1.5); }},
       {"tensor of a list",
        [] {
          torch::tensor({1.f, 2.f, 3.f, 4.f});
        }},
       {"from_blob", [&] { at::from_blob(in.data, {16}, at::kFloat); }},
       {"item", [&] { in.one.item<float>(); }}});
}

void add_operators(Cases& cases, Inputs& in) {
  cases.insert(
      cases.end(),
      {{"add, 1 element", [&] { at::add(in.one, in.other); }},
       {"add, 64 elements", [&] { at::add(in.row, in.row); }},
       {"add, in-place", [&] { in.sum_to.add_(in.other, 1e-9); }},
       {"add, out", [&] { at::add_out(in.out, in.one, in.other); }},
       {"add scalar", [&] { in.row + 2; }},
       {"add, broadcast", [&] { at::add(in.square, in.eight); }},
       {"add, long and float", [&] { at::add(in.ints, in.four); }},
       {"relu", [&] { at::relu(in.one); }},
       {"sum", [&] { at::sum(in.eight); }},
       {"cat of two",
        [&] {
          at::cat({in.four, in.four});
        }},
       {"clone", [&] { in.eight.clone(); }},
       {"copy_", [&] { in.copied.copy_(in.eight); }},
       {"to(double)", [&] { in.eight.to(at::kDouble); }},
       {"matmul 8x8", [&] { at::matmul(in.square, in.square); }},
       {"matmul 16x16", [&] { at::matmul(in.big, in.big); }},
       {"softmax", [&] { at::softmax(in.eight, 0); }},
       {"chain of 10", [&] { chain(in.one, in.one, in.other, 5); }}});
}

void add_views(Cases& cases, Inputs& in) {
  cases.insert(
      cases.end(),
      {{"view",
        [&] {
          in.matrix.view({6, 4});
        }},
       {"reshape",
        [&] {
          in.matrix.reshape({6, 4});
        }},
       {"transpose", [&] { in.matrix.transpose(0, 1); }},
       {"permute",
        [&] {
          in.matrix.permute({1, 0});
        }},
       {"select", [&] { in.matrix.select(0, 1); }},
       {"narrow", [&] { in.matrix.narrow(1, 1, 3); }},
       {"slice", [&] { in.matrix.slice(1, 0, 4); }},
       {"unsqueeze", [&] { in.matrix.unsqueeze(0); }},
       {"expand",
        [&] {
          in.eight.expand({8, 8});
        }},
       {"x[1]", [&] { in.matrix[1]; }},
       {"detach", [&] { in.matrix.detach(); }}});
}

// Recorded for backward.
void add_recorded(Cases& cases, Inputs& in) {
  cases.insert(
      cases.end(),
      {{"add, recorded", [&] { at::add(in.leaf, in.other); }},
       {"view, recorded",
        [&] {
          in.leaves.view({6, 4});
        }},
       {"matmul, recorded", [&] { at::matmul(in.leaves, in.tall); }},
       {"chain of 10, recorded", [&] { chain(in.leaf, in.leaf, in.other, 5); }},
       {"mul and backward",
        [&] {
          at::mul(in.leaf, in.other).backward();
          in.leaf.mutable_grad().reset();
        }},
       {"chain and backward", [&] {
          chain(in.leaf, in.leaf, in.other, 10).backward();
          in.leaf.mutable_grad().reset();
        }}});
}

void add_dispatcher(Cases& cases, Inputs& in) {
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto op = dispatcher.findSchemaOrThrow("bench_calls::first", "");
  const auto with_numbers = dispatcher.findSchemaOrThrow("bench_calls::mixed", "");
  const auto typed = op.typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  const auto typed_numbers = with_numbers.typed<at::Tensor(const at::Tensor&, int64_t, double, bool)>();
  cases.insert(
      cases.end(),
      {{"custom operator", [&in, typed] { typed.call(in.one, in.other); }},
       {"custom, with numbers", [&in, typed_numbers] { typed_numbers.call(in.one, 3, 0.5, true); }},
       {"custom, boxed",
        [&in, op] {
          in.stack.clear();
          in.stack.emplace_back(in.one);
          in.stack.emplace_back(in.other);
          op.callBoxed(&in.stack);
        }},
       {"numbers, boxed",
        [&in, with_numbers] {
          in.stack.clear();
          in.stack.emplace_back(in.one);
          in.stack.emplace_back(int64_t{3});
          in.stack.emplace_back(0.5);
          in.stack.emplace_back(true);
          with_numbers.callBoxed(&in.stack);
        }},
       {"find an operator", [&dispatcher] { dispatcher.findSchemaOrThrow("aten::add", "Tensor"); }}});
}

} // namespace

int main() {
  at::set_num_threads(1);
  Inputs in;
  Cases plain, recorded;
  add_factories(plain, in);
  add_operators(plain, in);
  add_views(plain, in);
  add_dispatcher(plain, in);
  add_recorded(recorded, in);
  {
    const at::NoGradGuard no_grad;
    report(plain);
  }
  report(recorded);
  return 0;
}
