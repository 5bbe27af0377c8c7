// _c10d_functional::*, its functions and its gradients.
#include "expect.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/csrc/distributed/c10d/Functional.hpp>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/torch.h>

#include <aten/core/dispatch/Dispatcher.h>

using test::expect;
using test::expect_error;
using test::GroupPtr;
using test::with_rank_threads;

namespace {

void expect_equal(const at::Tensor& got, const at::Tensor& wanted) {
  expect(at::equal(got, wanted), c10::str(got, "\nis not\n", wanted));
}

// Each rank, a thread, has its group by one name.
void with_named_groups(int size, const std::function<void(int, const GroupPtr&)>& body) {
  c10d::set_thread_isolation_mode(true);
  with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    c10d::register_process_group("named", group);
    body(rank, group);
    c10d::unregister_process_group("named");
  });
  c10d::set_thread_isolation_mode(false);
}

} // namespace

TEST_CASE("Functional collectives return new tensors, which are there after wait_tensor", "[distributed][functional]") {
  with_named_groups(3, [](int rank, const GroupPtr& group) {
    const auto x = at::full({3, 2}, float(rank + 1));
    expect_equal(c10d::wait_tensor(c10d::all_reduce(x, "sum", "named")), at::full({3, 2}, 6.f));
    expect_equal(x, at::full({3, 2}, float(rank + 1)));
    const auto max = c10::make_intrusive<c10d::ReduceOp>(c10d::ReduceOp::MAX);
    expect_equal(c10d::wait_tensor(c10d::all_reduce(x, max, group)), at::full({3, 2}, 3.f));
    const auto rows = c10d::wait_tensor(c10d::all_gather_into_tensor(x, 3, "named"));
    expect_equal(rows, at::tensor({1.f, 2.f, 3.f}).repeat_interleave(3).view({9, 1}).expand({9, 2}));
    const auto part = c10d::wait_tensor(c10d::reduce_scatter_tensor(rows, "sum", 3, "named"));
    expect_equal(part, at::full({3, 2}, 3.f * float(rank + 1)));
    expect_equal(c10d::wait_tensor(c10d::broadcast(x, 2, "named")), at::full({3, 2}, 3.f));
    const std::vector<c10::SymInt> ones{1, 1, 1};
    expect_equal(
        c10d::wait_tensor(c10d::all_to_all_single(x, ones, ones, "named")).select(1, 0), at::tensor({1.f, 2.f, 3.f}));
    const auto several = c10d::all_reduce_coalesced({x, at::ones({5})}, "avg", "named");
    expect_equal(c10d::wait_tensors(several)[0], at::full({3, 2}, 2.f));
    auto in_place = x.clone();
    c10d::all_reduce_(in_place, "product", "named");
    expect_equal(c10d::wait_tensor(in_place), at::full({3, 2}, 6.f));
  });
}

TEST_CASE("Functional messages go by name", "[distributed][functional]") {
  with_named_groups(2, [](int rank, const GroupPtr&) {
    auto out = at::full({4}, float(rank));
    auto in = at::empty({4});
    c10d::batch_p2p_ops({"isend", "irecv"}, {1 - rank, 1 - rank}, {0, 0}, {out, in}, "named");
    c10d::wait_tensors({out, in});
    expect_equal(in, at::full({4}, float(1 - rank)));
    expect_error<c10::Error>([&] { c10d::batch_p2p_ops({"isend"}, {0, 1}, {0}, {out}, "named"); }, {"one length"});
  });
}

TEST_CASE("Functional collectives are operators, with a group or its name", "[distributed][functional]") {
  with_named_groups(2, [](int rank, const GroupPtr& group) {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("_c10d_functional::all_reduce", "");
    expect(
        c10::str(op.schema()) == "_c10d_functional::all_reduce(Tensor input, Any reduce_op, Any group_name) -> Tensor",
        c10::str(op.schema()));
    for (const c10::IValue& named : {c10::IValue("named"), c10::IValue(group)}) {
      torch::jit::Stack stack{at::ones({2}), "sum", named};
      op.callBoxed(&stack);
      const auto wait = c10::Dispatcher::singleton().findSchemaOrThrow("_c10d_functional::wait_tensor", "");
      wait.callBoxed(&stack);
      expect_equal(stack[0].toTensor(), at::full({2}, 2.f));
    }
    expect(rank >= 0);
  });
}

TEST_CASE("Gradients of functional collectives take the way back", "[distributed][functional]") {
  with_named_groups(2, [](int rank, const GroupPtr&) {
    const auto op = [](const char* name) { return c10::Dispatcher::singleton().findSchemaOrThrow(name, ""); };
    const auto call = [&](const char* name, torch::jit::Stack stack) {
      op(name).callBoxed(&stack);
      return c10d::wait_tensor(stack[0].toTensor());
    };
    const auto leaf = [&] { return at::full({4}, float(rank + 1)).requires_grad_(); };
    // The loss of rank r weighs its results by r + 1.
    const auto weigh = [&](const at::Tensor& y) { (y * float(rank + 1)).sum().backward(); };
    auto x = leaf();
    weigh(call("_c10d_functional::all_reduce", {x, "sum", "named"}));
    expect_equal(x.grad(), at::full({4}, 3.f));
    x = leaf();
    weigh(call("_c10d_functional::all_gather_into_tensor", {x, 2, "named"}));
    expect_equal(x.grad(), at::full({4}, 3.f));
    x = leaf();
    weigh(call("_c10d_functional::reduce_scatter_tensor", {x, "avg", 2, "named"}));
    expect_equal(x.grad(), at::tensor({.5f, .5f, 1.f, 1.f}));
    x = leaf();
    weigh(call(
        "_c10d_functional_autograd::all_to_all_single",
        {x, std::vector<int64_t>{2, 2}, std::vector<int64_t>{2, 2}, "named"}));
    expect_equal(x.grad(), at::tensor({1.f, 1.f, 2.f, 2.f}));
    x = leaf();
    weigh(call("_c10d_functional::broadcast", {x, 1, "named"}));
    expect_equal(x.grad(), at::full({4}, rank == 1 ? 3.f : 0.f));
    x = leaf();
    const auto y = call("_c10d_functional::all_reduce", {x, "max", "named"});
    expect_error<c10::Error>([&] { y.sum().backward(); }, {"defined for the reductions sum and avg only"});
  });
}

TEST_CASE("Functional collectives refuse what they cannot do", "[distributed][functional]") {
  with_named_groups(1, [](int, const GroupPtr&) {
    const auto x = at::ones({5});
    expect_error<c10::Error>([&] { c10d::all_reduce(x, "mean", "named"); }, {"Unrecognized reduce_op: mean"});
    expect_error<c10::Error>([&] { c10d::all_reduce(x, "sum", "none"); }, {"Could not resolve the process group"});
    expect_error<c10::Error>(
        [&] { c10d::reduce_scatter_tensor(x, "sum", 2, "named"); }, {"is not divisible by the group size (2)"});
    expect_error<c10::Error>(
        [&] { c10d::all_gather_into_tensor(at::scalar_tensor(1.f), 1, "named"); }, {"at least one dimension"});
  });
}
