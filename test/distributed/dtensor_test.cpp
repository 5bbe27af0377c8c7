// DTensor: whatever the placements, operators give the parts of what they give for the whole.
#include "ddp_nets.h"
#include "expect.h"

#include <catch2/catch.hpp>

#include <csrc/distributed/store/HashStore.h>
#include <csrc/distributed/store/PrefixStore.h>

#include <random>

namespace dist = torch::distributed;
using dist::DTensor;
using dist::Partial;
using dist::Placements;
using dist::Replicate;
using dist::Shard;
using test::expect;
using test::expect_error;
using test::GroupPtr;

namespace {

at::Tensor values(at::IntArrayRef sizes, int64_t seed) {
  auto generator = at::detail::createCPUGenerator(static_cast<uint64_t>(seed));
  return torch::randn(sizes, generator, at::kDouble);
}

// The 2 x 2 mesh of four rank threads.
dist::DeviceMesh square(const c10::intrusive_ptr<c10d::Store>& store, int rank) {
  const auto line = [&](const std::string& name, int place) {
    return test::shm_group(c10::make_intrusive<c10d::PrefixStore>(name, store), place, 2);
  };
  return dist::DeviceMesh::from_groups(
      {line("column" + std::to_string(rank % 2), rank / 2), line("row" + std::to_string(rank / 2), rank % 2)},
      torch::arange(4).view({2, 2}), rank, c10::kCPU, {"dp", "tp"});
}

std::vector<dist::AnyPlacement> choices(int64_t dim) {
  std::vector<dist::AnyPlacement> all{Replicate(), Partial()};
  for (int64_t d = 0; d < dim; ++d) {
    all.push_back(Shard(d));
  }
  return all;
}

template <class Random>
Placements any_placements(int64_t dim, size_t levels, Random& random) {
  const auto all = choices(dim);
  Placements placements;
  for (size_t i = 0; i < levels; ++i) {
    placements.push_back(all[random() % all.size()]);
  }
  return placements;
}

} // namespace

TEST_CASE("Tensors come whole out of any sequence of placements", "[distributed][dtensor]") {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  test::with_rank_threads(4, [&](int rank, const GroupPtr& group) {
    const auto mesh = square(store, rank);
    std::mt19937 random(7); // the same on all ranks
    for (int round = 0; round < 40; ++round) {
      const auto whole = values({3 + round % 4, 5}, round);
      auto tensor = dist::distribute_tensor(whole, mesh, {Replicate(), Replicate()});
      std::string route;
      for (int step = 0; step < 4; ++step) {
        auto next = any_placements(2, 2, random);
        // One reduction does not become another.
        for (size_t d = 0; d < 2; ++d) {
          if (std::holds_alternative<Partial>(tensor.placements()[d]) && std::holds_alternative<Partial>(next[d])) {
            next[d] = Replicate();
          }
        }
        route += dist::to_string(next);
        tensor = tensor.redistribute(next);
        expect(tensor.to_local().sizes() == at::IntArrayRef(tensor.part().sizes), route);
      }
      expect(torch::allclose(tensor.full_tensor(), whole), route);
    }
    (void)group;
  });
}

TEST_CASE("Operators on parts give parts of the operators' results, and gradients", "[distributed][dtensor]") {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  struct Case {
    const char* name;
    std::vector<std::vector<int64_t>> sizes;
    std::function<DTensor(const std::vector<DTensor>&)> parts;
    std::function<at::Tensor(const std::vector<at::Tensor>&)> whole;
  };
  const std::vector<Case> cases = {
      {"add", {{4, 6}, {4, 6}}, [](const auto& x) { return x[0] + x[1]; }, [](const auto& x) { return x[0] + x[1]; }},
      {"sub", {{4, 6}, {6}}, [](const auto& x) { return x[0] - x[1]; }, [](const auto& x) { return x[0] - x[1]; }},
      {"mul", {{4, 6}, {4, 1}}, [](const auto& x) { return x[0] * x[1]; }, [](const auto& x) { return x[0] * x[1]; }},
      {"tanh", {{5, 3}}, [](const auto& x) { return dist::tanh(x[0]); }, [](const auto& x) { return x[0].tanh(); }},
      {"matmul",
       {{4, 6}, {6, 5}},
       [](const auto& x) { return dist::matmul(x[0], x[1]); },
       [](const auto& x) { return x[0].matmul(x[1]); }},
      {"linear",
       {{2, 3, 4}, {6, 4}, {6}},
       [](const auto& x) { return dist::linear(x[0], x[1], x[2]); },
       [](const auto& x) { return at::linear(x[0], x[1], x[2]); }},
      {"sum", {{4, 6}}, [](const auto& x) { return dist::sum(x[0]); }, [](const auto& x) { return x[0].sum(); }},
      {"sum1",
       {{4, 6, 2}},
       [](const auto& x) { return dist::sum(x[0], 1); },
       [](const auto& x) { return x[0].sum(1); }},
      {"mean",
       {{4, 6}},
       [](const auto& x) { return dist::mean(x[0], -1, true); },
       [](const auto& x) { return x[0].mean({-1}, true); }},
      {"transpose",
       {{4, 6}},
       [](const auto& x) { return dist::transpose(x[0], 0, -1); },
       [](const auto& x) { return x[0].transpose(0, -1); }},
      {"softmax",
       {{4, 6}},
       [](const auto& x) { return dist::softmax(x[0], -1); },
       [](const auto& x) { return x[0].softmax(-1); }},
  };
  test::with_rank_threads(4, [&](int rank, const GroupPtr&) {
    const auto mesh = square(store, rank);
    std::mt19937 random(11);
    for (const auto& one : cases) {
      for (int round = 0; round < 12; ++round) {
        std::vector<at::Tensor> leaves, wholes;
        std::vector<DTensor> parts;
        std::string text = one.name;
        for (size_t i = 0; i < one.sizes.size(); ++i) {
          const auto value = values(one.sizes[i], round * 10 + static_cast<int64_t>(i));
          wholes.push_back(value.clone().requires_grad_());
          leaves.push_back(value.clone().requires_grad_());
          const auto placements = any_placements(value.dim(), 2, random);
          text += " " + dist::to_string(placements);
          parts.push_back(
              DTensor::from_local(leaves[i], mesh, {Replicate(), Replicate()}, one.sizes[i]).redistribute(placements));
        }
        const auto result = one.parts(parts).full_tensor();
        const auto expected = one.whole(wholes);
        expect(torch::allclose(result, expected), text);
        const auto weights = values(expected.sizes(), 99);
        (result * weights).sum().backward();
        (expected * weights).sum().backward();
        for (size_t i = 0; i < leaves.size(); ++i) {
          expect(torch::allclose(leaves[i].grad(), wholes[i].grad()), text + ", gradient " + std::to_string(i));
        }
      }
    }
  });
}

TEST_CASE("DTensors refuse what does not fit", "[distributed][dtensor]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    const auto mesh = dist::DeviceMesh::from_group(group);
    const auto x = dist::distribute_tensor(values({4, 6}, 1), mesh, {Shard(-1)});
    expect(dist::to_string(x.placements()) == "[S(1)]" && x.to_local().size(1) == 3);
    expect_error([&] { x.redistribute({Shard(2)}); }, {"Sharding dim 2 greater than tensor ndim 2"});
    expect_error([&] { x.redistribute({}); }, {"must have the same length as `device_mesh.ndim`"});
    expect_error(
        [&] {
          DTensor::from_local(values({2, 2}, 1), mesh, {Shard(0)}, std::vector<int64_t>{7, 2});
        },
        {"[7, 2]"});
    expect_error([&] { dist::matmul(x, x); }, {"cannot be multiplied"});
    const auto sum = DTensor::from_local(torch::full({2}, float(rank)), mesh, {Partial("max")});
    expect(sum.full_tensor().equal(torch::ones({2})));
    expect_error([&] { sum.redistribute({Partial()}); }, {"to another reduction is not possible"});
    expect_error([&] { sum.redistribute({Partial("most")}); }, {});
  });
}

TEST_CASE("Column, row and sequence parallel modules are the whole ones", "[distributed][dtensor]") {
  struct MlpBlockImpl : torch::nn::Module {
    MlpBlockImpl() {
      norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({8})));
      up = register_module("up", torch::nn::Linear(8, 12));
      down = register_module("down", torch::nn::Linear(12, 8));
      test::fill(*this);
    }
    at::Tensor forward(const at::Tensor& x) {
      return down(torch::gelu(up(norm(x))));
    }
    torch::nn::LayerNorm norm{nullptr};
    torch::nn::Linear up{nullptr}, down{nullptr};
  };
  const bool sequence = GENERATE(false, true);
  CAPTURE(sequence);
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    const auto mesh = dist::DeviceMesh::from_group(group);
    auto whole = std::make_shared<MlpBlockImpl>();
    auto parts = std::make_shared<MlpBlockImpl>();
    dist::ColwiseParallel up;
    dist::RowwiseParallel down;
    up.input_is_sequence = down.output_is_sequence = sequence;
    std::vector<std::pair<std::string, dist::ParallelStyle>> plan{{"up", up}, {"down", down}};
    if (sequence) {
      plan.emplace_back("norm", dist::SequenceParallel());
    }
    dist::parallelize_module(parts, mesh, plan);
    expect(parts->up->weight.sizes() == at::IntArrayRef({6, 8}));
    expect(parts->down->weight.sizes() == at::IntArrayRef({8, 6}));
    const auto input = test::rows(12, 8).view({3, 4, 8});
    auto x = input.clone().requires_grad_();
    const auto expected = whole->forward(x);
    auto own = (sequence ? input.narrow(1, rank * 2, 2) : input).clone().requires_grad_();
    const auto got = parts->forward(own);
    const auto mine = [&](const at::Tensor& t) { return sequence ? t.narrow(1, rank * 2, 2) : t; };
    const auto near = [](const at::Tensor& a, const at::Tensor& b) { return torch::allclose(a, b, 1e-5, 1e-6); };
    expect(near(got, mine(expected)));
    expected.square().sum().backward();
    got.square().sum().backward();
    expect(near(own.grad(), mine(x.grad())), "input");
    for (const auto& item : whole->named_parameters()) {
      const auto parameter = parts->named_parameters()[item.key()];
      const auto part = dist::dtensor_of(parameter);
      const auto grad = part
          ? DTensor::from_local(parameter.grad(), mesh, part->placements(), part->sizes().vec()).full_tensor()
          : parameter.grad();
      expect(near(grad, item.value().grad()), item.key());
    }
    expect_error([&] { dist::parallelize_module(parts, mesh, {{"none", up}}); }, {"no module at none"});
    expect_error([&] { dist::parallelize_module(parts, mesh, {{"norm", up}}); }, {"only support nn.Linear"});
  });
}
