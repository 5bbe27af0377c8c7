// c10d::Reducer, c10d::Logger and the assignment of buckets, as programs for libtorch use them.
#include "expect.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/csrc/distributed/c10d/default_comm_hooks.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <torch/torch.h>

using test::expect;
using test::expect_error;
using test::GroupPtr;
using test::with_rank_threads;
using Tensors = std::vector<at::Tensor>;

namespace {

struct Net : torch::nn::Module {
  Net() : a(2, 10), b(10, 4), c(4, 4) {
    register_module("a", a);
    register_module("b", b);
    register_module("c", c);
    const torch::NoGradGuard no_grad;
    for (auto& parameter : parameters()) {
      parameter.fill_(0.1);
    }
  }
  at::Tensor forward(const at::Tensor& x, bool use_last = true) {
    const auto y = torch::relu(b(torch::relu(a(x))));
    return use_last ? torch::relu(c(y)) : y;
  }
  torch::nn::Linear a, b, c;
};

std::shared_ptr<c10d::Reducer> reducer_of(Net& net, const GroupPtr& group, bool find_unused = false) {
  const auto parameters = net.parameters();
  std::vector<size_t> all(parameters.size());
  std::iota(all.rbegin(), all.rend(), 0);
  return std::make_shared<c10d::Reducer>(
      parameters, std::vector<std::vector<size_t>>{all}, group, std::vector<bool>(parameters.size(), false),
      c10d::kDefaultBucketBytesCap, find_unused, true, std::unordered_map<size_t, std::string>(),
      c10d::kDefaultFirstBucketBytes, false, false, std::vector<int64_t>());
}

} // namespace

TEST_CASE("A Reducer averages the gradients of a pass that was announced", "[distributed][reducer]") {
  with_rank_threads(2, [](int rank, const GroupPtr& group) {
    Net net;
    Net alone;
    const auto reducer = reducer_of(net, group);
    const auto x = at::arange(1, 9).view({4, 2}).to(at::kFloat);
    for (int step = 0; step < 3; ++step) {
      net.zero_grad();
      alone.zero_grad();
      const auto out = net.forward(x.narrow(0, 2 * rank, 2));
      reducer->prepare_for_backward({out});
      out.mean().backward();
      alone.forward(x).mean().backward();
      for (size_t i = 0; i < alone.parameters().size(); ++i) {
        expect(at::allclose(net.parameters()[i].grad(), alone.parameters()[i].grad()), c10::str("parameter ", i));
      }
    }
    // Without the announcement gradients stay this rank's.
    net.zero_grad();
    net.forward(x.narrow(0, 2 * rank, 2)).mean().backward();
    Net own;
    own.forward(x.narrow(0, 2 * rank, 2)).mean().backward();
    expect(at::equal(net.parameters()[0].grad(), own.parameters()[0].grad()));
    expect(reducer->get_backward_stats().size() == net.parameters().size());
  });
}

TEST_CASE("A Reducer takes passes that leave parameters out", "[distributed][reducer]") {
  with_rank_threads(2, [](int rank, const GroupPtr& group) {
    Net net;
    const auto reducer = reducer_of(net, group, true);
    const auto x = at::ones({2, 2});
    for (const bool use_last : {true, rank == 0, false}) {
      net.zero_grad();
      const auto out = net.forward(x, use_last);
      reducer->prepare_for_backward({out});
      out.mean().backward();
      const auto used = reducer->get_local_used_map_on_device();
      expect(used[0].item<int>() == 1 && used[4].item<int>() == int(use_last));
    }
    expect(!net.c->weight.grad().defined() || net.c->weight.grad().abs().sum().item<float>() == 0);
  });
}

TEST_CASE("A Reducer's hook takes the place of the average, once", "[distributed][reducer]") {
  with_rank_threads(2, [](int rank, const GroupPtr& group) {
    Net net;
    const auto reducer = reducer_of(net, group);
    reducer->register_builtin_comm_hook(c10d::BuiltinCommHookType::FP16_COMPRESS);
    expect_error<c10::Error>(
        [&] { reducer->register_comm_hook(std::make_unique<c10d::AllReduceCommHook>(group)); },
        {"can only be called once"});
    const auto out = net.forward(at::full({2, 2}, float(rank + 1)));
    reducer->prepare_for_backward({out});
    out.mean().backward();
    Net alone;
    alone.forward(at::tensor({1.f, 1.f, 2.f, 2.f}).view({2, 2})).mean().backward();
    expect(at::allclose(net.a->weight.grad(), alone.a->weight.grad(), 1e-2, 1e-3));
    const auto buckets = reducer->get_grad_buckets(false);
    expect(buckets.size() == 1 && buckets[0].isLast() && buckets[0].getGradients().size() == 6);
    expect(reducer->get_grad_buckets()[0].getBuffer().abs().sum().item<float>() == 0);
  });
}

TEST_CASE("A Reducer refuses buckets that do not fit its parameters", "[distributed][reducer]") {
  with_rank_threads(1, [](int, const GroupPtr& group) {
    const Tensors two{at::ones({2}).requires_grad_(), at::ones({2}, at::kDouble).requires_grad_()};
    const auto make = [&](std::vector<std::vector<size_t>> buckets, const Tensors& parameters) {
      c10d::Reducer reducer(parameters, std::move(buckets), group);
    };
    expect_error<c10::Error>([&] { make({{0, 1}}, two); }, {"All parameters in a bucket must have the same dtype"});
    expect_error<c10::Error>([&] { make({{0}, {2}}, two); }, {"Out of range variable index specified: 2"});
    expect_error<c10::Error>([&] { make({{0}}, two); }, {"parameter 1 is in no bucket"});
    expect_error<c10::Error>([&] { make({{0}, {0, 1}}, two); }, {"parameter 0 is in two buckets"});
    expect_error<c10::Error>([&] { make({}, {}); }, {"Expected at least one parameter."});
    make({{1}, {0}}, two);
  });
}

TEST_CASE("Parameters that differ over ranks are refused on all ranks", "[distributed][reducer]") {
  with_rank_threads(2, [](int rank, const GroupPtr& group) {
    const Tensors mine{at::ones({2, rank + 1})};
    expect_error<c10::Error>([&] { c10d::verify_params_across_processes(group, mine); }, {"DDP expects same model"});
    c10d::verify_params_across_processes(group, {at::ones({2, 2})});
  });
}

TEST_CASE("Buckets are filled in order, one dtype each, up to their limits", "[distributed][reducer]") {
  const auto f = [](int64_t n) { return at::empty({n}); };
  const auto d = [](int64_t n) { return at::empty({n}, at::kDouble); };
  const auto buckets = [](const Tensors& tensors, std::vector<size_t> sizes, std::vector<bool> sparse = {}) {
    return std::get<0>(c10d::compute_bucket_assignment_by_size(tensors, sizes, sparse));
  };
  using Buckets = std::vector<std::vector<size_t>>;
  CHECK(buckets({f(100), f(200), f(100), f(50)}, {400}) == Buckets{{0}, {1}, {2}, {3}});
  CHECK(buckets({f(50), d(25), f(50), d(25), f(50), d(25)}, {400}) == Buckets{{0, 2}, {1, 3}, {4}, {5}});
  CHECK(buckets({f(10), f(10), f(10), f(10)}, {40, 80}) == Buckets{{0}, {1, 2}, {3}});
  CHECK(buckets({f(50), d(25), f(50), d(25), f(50), d(25)}, {200, 400}) == Buckets{{0}, {1}, {2, 4}, {3, 5}});
  CHECK(buckets({f(10), f(10), f(10)}, {1000}, {false, true, false}) == Buckets{{0, 2}, {1}});
  const auto [indices, limits] =
      c10d::compute_bucket_assignment_by_size({f(10), f(10), f(10)}, {40, 1000}, {}, {2, 1, 0});
  CHECK(indices == Buckets{{2}, {1, 0}});
  CHECK(limits == std::vector<size_t>{40, 1000});
}

TEST_CASE("A Logger tells what its Reducer is about", "[distributed][reducer]") {
  with_rank_threads(2, [](int rank, const GroupPtr& group) {
    Net net;
    const auto reducer = reducer_of(net, group);
    const auto logger = std::make_shared<c10d::Logger>(reducer);
    reducer->set_logger(logger);
    logger->set_construction_data_and_log("Net", {0}, 0, true, false, false);
    const auto out = net.forward(at::ones({1, 2}));
    reducer->prepare_for_backward({out});
    out.sum().backward();
    const auto data = logger->get_ddp_logging_data();
    expect(data.strs_map.at("module_name") == "Net" && data.ints_map.at("world_size") == 2);
    expect(data.ints_map.at("rank") == rank && data.ints_map.at("iteration") == 1);
    expect(data.strs_map.at("bucket_sizes") == "376", data.strs_map.at("bucket_sizes"));
  });
}
