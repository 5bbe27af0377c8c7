// fully_shard: cut parameters train as whole ones do.
#include "ddp_nets.h"
#include "expect.h"

#include <catch2/catch.hpp>

#include <csrc/distributed/store/HashStore.h>
#include <csrc/distributed/store/PrefixStore.h>
#include <torch/utils/checkpoint.h>

#include <filesystem>
#include <thread>

namespace dist = torch::distributed;
namespace fsdp = torch::distributed::fsdp;
using test::ddp_options;
using test::expect;
using test::expect_error;
using test::GroupPtr;
using test::rows;
using torch::nn::parallel::DistributedDataParallel;

namespace {

// Blocks whose parameters do not divide evenly, one with a normalization, one called twice.
struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t width) {
    up = register_module("up", torch::nn::Linear(width, 2 * width + 1));
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({2 * width + 1})));
    down = register_module("down", torch::nn::Linear(2 * width + 1, width));
  }
  at::Tensor forward(const at::Tensor& x) {
    return x + down(torch::tanh(norm(up(x))));
  }
  torch::nn::Linear up{nullptr}, down{nullptr};
  torch::nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(Block);

struct DeepImpl : torch::nn::Module {
  DeepImpl() {
    first = register_module("first", torch::nn::Linear(6, 7));
    for (int i = 0; i < 3; ++i) {
      blocks.push_back(register_module("block" + std::to_string(i), Block(7)));
    }
    last = register_module("last", torch::nn::Linear(7, 3));
    scale = register_parameter("scale", torch::ones({5}));
    test::fill(*this);
  }
  at::Tensor forward(const at::Tensor& x, int kind = 0) {
    auto y = torch::relu(first(x));
    for (auto& block : blocks) {
      if (kind == 0) {
        y = block(y);
      } else {
        torch::utils::CheckpointOptions options;
        options.use_reentrant = kind == 2;
        y = torch::utils::checkpoint(
            torch::utils::CheckpointFunctionOfTensor([&block](const at::Tensor& z) { return block(z); }), y, options);
      }
    }
    return last(blocks[1](y)) * scale.mean();
  }
  torch::nn::Linear first{nullptr}, last{nullptr};
  std::vector<Block> blocks;
  at::Tensor scale;
};
TORCH_MODULE(Deep);

fsdp::FSDPModule shard(Deep& net, const dist::DeviceMesh& mesh, fsdp::FullyShardOptions options = {}) {
  options.mesh(mesh);
  for (auto& block : net->blocks) {
    fsdp::fully_shard(block, options);
  }
  return fsdp::fully_shard(net, options);
}

std::vector<at::Tensor> whole(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> tensors;
  for (const auto& parameter : parameters) {
    const auto part = dist::dtensor_of(parameter);
    tensors.push_back(part ? part->full_tensor().detach().clone() : parameter.detach().clone());
  }
  return tensors;
}

void expect_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  expect(a.size() == b.size());
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    expect(a[i].equal(b[i]), "parameter " + std::to_string(i));
  }
}

template <class Optimizer, class Options>
void compare(const GroupPtr& group, int rank, const Options& options, int kind, bool reshard) {
  Deep twin;
  DistributedDataParallel<Deep> ddp(twin, ddp_options(group));
  Optimizer whole_optimizer(ddp.parameters(), options);
  Deep net;
  fsdp::FullyShardOptions how;
  how.reshard_after_forward(reshard);
  shard(net, dist::DeviceMesh::from_group(group), how);
  Optimizer optimizer(net->parameters(), options);
  for (int step = 0; step < 4; ++step) {
    whole_optimizer.zero_grad();
    optimizer.zero_grad();
    const auto x = rows(4) + rank + step;
    const auto expected = ddp(x, kind);
    const auto got = net(x, kind);
    expect(kind == 2 || got.equal(expected), "results of step " + std::to_string(step));
    expected.square().mean().backward();
    got.square().mean().backward();
    whole_optimizer.step();
    optimizer.step();
    const auto all = whole(net->parameters());
    if (kind != 2) {
      expect_equal(all, twin->parameters());
    }
    // Where a re-entrant checkpoint is passed twice, each time is reduced for itself: sums have another order.
    for (size_t i = 0; i < all.size(); ++i) {
      expect(torch::allclose(all[i], twin->parameters()[i], 1e-5, 1e-6), "parameter " + std::to_string(i));
    }
  }
}

} // namespace

TEST_CASE("fully_shard trains as DistributedDataParallel does, bit for bit", "[distributed][fsdp]") {
  const int size = GENERATE(1, 2, 4);
  const bool reshard = GENERATE(true, false);
  CAPTURE(size, reshard);
  test::with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    compare<torch::optim::SGD>(group, rank, torch::optim::SGDOptions(0.05).momentum(0.9), 0, reshard);
    compare<torch::optim::AdamW>(group, rank, torch::optim::AdamWOptions(0.01), 0, reshard);
  });
}

TEST_CASE("fully_shard goes with checkpoints of both kinds", "[distributed][fsdp]") {
  const int kind = GENERATE(1, 2);
  CAPTURE(kind);
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    compare<torch::optim::SGD>(group, rank, torch::optim::SGDOptions(0.05), kind, true);
  });
}

TEST_CASE("Each rank keeps its part only, and members see it", "[distributed][fsdp]") {
  test::with_rank_threads(4, [&](int rank, const GroupPtr& group) {
    Deep net;
    int64_t all = 0;
    for (const auto& parameter : net->parameters()) {
      all += parameter.numel();
    }
    const auto names_before = net->named_parameters().keys();
    auto module = shard(net, dist::DeviceMesh::from_group(group));
    expect(net->named_parameters().keys() == names_before);
    int64_t mine = 0;
    for (const auto& parameter : net->parameters()) {
      mine += parameter.numel();
      expect(parameter.is_leaf() && parameter.requires_grad());
    }
    expect(mine < all / 2);
    // 15 rows over 4 ranks: 4, 4, 4, 3.
    expect(net->blocks[0]->up->weight.size(0) == (rank == 3 ? 3 : 4));
    const auto parts = module.sharded_parameters();
    expect(parts.size() == 5); // first, last, scale
    expect(parts[0].full_tensor().sizes() == at::IntArrayRef({7, 6}) || parts[0].dim() == 1);
    {
      const torch::NoGradGuard no_grad;
      expect(net(rows(2)).sizes() == at::IntArrayRef({2, 3}));
    }
    // The root stays whole after its forward.
    expect(net->first->weight.sizes() == at::IntArrayRef({7, 6}));
    expect(net->blocks[0]->up->weight.size(0) < 15);
    module.reshard();
    expect(net->first->weight.size(0) == (rank == 3 ? 1 : 2));
    module.unshard(/*async_op=*/true);
    module.reshard();
    expect_error([&] { fsdp::fully_shard(net); }, {"was cut already"});
    torch::nn::Linear scalar(2, 2);
    scalar->register_parameter("factor", torch::ones({}));
    fsdp::FullyShardOptions options;
    options.mesh(dist::DeviceMesh::from_group(group));
    expect_error([&] { fsdp::fully_shard(scalar, options); }, {"doesn't support scalar parameters", "factor"});
  });
}

TEST_CASE("Gradients add up without sync until the next pass that has it", "[distributed][fsdp]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Deep twin;
    DistributedDataParallel<Deep> ddp(twin, ddp_options(group));
    Deep net;
    auto module = shard(net, dist::DeviceMesh::from_group(group));
    for (int step = 0; step < 2; ++step) {
      ddp.zero_grad();
      net->zero_grad();
      {
        const auto off = ddp.no_sync();
        module.set_requires_gradient_sync(false);
        ddp(rows(4) + rank).sum().backward();
        net(rows(4) + rank).sum().backward();
      }
      module.set_requires_gradient_sync(true);
      ddp(rows(2) - rank).sum().backward();
      net(rows(2) - rank).sum().backward();
      const auto expected = twin->parameters();
      const auto got = net->parameters();
      for (size_t i = 0; i < got.size(); ++i) {
        const auto part = dist::dtensor_of(got[i]);
        const auto grad =
            dist::DTensor::from_local(got[i].grad(), part->device_mesh(), part->placements(), part->sizes().vec());
        expect(torch::allclose(grad.full_tensor(), expected[i].grad(), 1e-5, 1e-6));
      }
    }
  });
}

TEST_CASE("Two passes over one forward, frozen parameters, and passes that fail", "[distributed][fsdp]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Deep net;
    auto module = shard(net, dist::DeviceMesh::from_group(group));
    auto loss = net(rows(4) + rank).square().mean();
    loss.backward({}, /*retain_graph=*/true);
    const auto once = net->parameters()[0].grad().clone();
    loss.backward();
    expect(torch::allclose(net->parameters()[0].grad(), once * 2));
    // A pass that throws leaves the next one whole.
    net->zero_grad();
    auto output = net(rows(4) + rank);
    auto middle = output.square();
    middle.register_hook([](const at::Tensor&) { TORCH_CHECK(false, "stop"); });
    expect_error([&] { (middle.sum() + net(rows(1)).sum()).backward(); }, {"stop"});
    net->zero_grad();
    net(rows(4) + rank).square().mean().backward();
    expect(net->parameters()[0].grad().equal(once));
    // Frozen ones have no gradient and keep the others' right.
    net->zero_grad();
    for (auto& parameter : net->blocks[1]->parameters()) {
      parameter.requires_grad_(false);
    }
    net(rows(4) + rank).square().mean().backward();
    expect(!net->blocks[1]->parameters()[0].grad().defined());
    expect(net->parameters()[0].grad().equal(once));
  });
}

TEST_CASE("Mixed precision gathers and reduces in other dtypes", "[distributed][fsdp]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Deep net;
    auto policy = fsdp::MixedPrecisionPolicy().param_dtype(at::kBFloat16).reduce_dtype(at::kFloat);
    fsdp::FullyShardOptions options;
    options.mesh(dist::DeviceMesh::from_group(group)).mp_policy(policy);
    for (auto& block : net->blocks) {
      fsdp::fully_shard(block, options);
    }
    options.mp_policy(policy.output_dtype(at::kFloat));
    fsdp::fully_shard(net, options);
    at::ScalarType seen = at::kFloat;
    net->blocks[0]->up->register_forward_pre_hook([&](torch::nn::Module& self, std::vector<at::Tensor>&) {
      seen = self.as<torch::nn::LinearImpl>()->weight.scalar_type();
    });
    const auto y = net(rows(4) + rank);
    expect(y.scalar_type() == at::kFloat);
    expect(seen == at::kBFloat16);
    y.square().mean().backward();
    Deep plain;
    DistributedDataParallel<Deep> ddp(plain, ddp_options(group));
    ddp(rows(4) + rank).square().mean().backward();
    for (size_t i = 0; i < net->parameters().size(); ++i) {
      const auto parameter = net->parameters()[i];
      expect(parameter.scalar_type() == at::kFloat && parameter.grad().scalar_type() == at::kFloat);
    }
    const auto part = dist::dtensor_of(net->parameters()[1]);
    const auto grad = dist::DTensor::from_local(
        net->parameters()[1].grad(), part->device_mesh(), part->placements(), part->sizes().vec());
    const auto expected = plain->parameters()[1].grad();
    expect((grad.full_tensor() - expected).norm().item<double>() < 0.1 * expected.norm().item<double>());
  });
}

TEST_CASE("A mesh of two dimensions holds copies of shards", "[distributed][fsdp]") {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  test::with_rank_threads(4, [&](int rank, const GroupPtr& group) {
    const auto line = [&](const std::string& name, int place) {
      return test::shm_group(c10::make_intrusive<c10d::PrefixStore>(name, store), place, 2);
    };
    const auto copies = line("copies" + std::to_string(rank % 2), rank / 2);
    const auto shards = line("shards" + std::to_string(rank / 2), rank % 2);
    const auto mesh = dist::DeviceMesh::from_groups(
        {copies, shards}, torch::arange(4).view({2, 2}), rank, c10::kCPU, {"dp", "shard"});
    expect(mesh["shard"].get_group() == shards && mesh.get_coordinate()[0] == rank / 2);
    expect_error([&] { mesh["tp"]; }, {"Invalid mesh_dim_name tp"});
    Deep twin;
    DistributedDataParallel<Deep> ddp(twin, ddp_options(group));
    torch::optim::SGD whole_optimizer(ddp.parameters(), 0.05);
    Deep net;
    shard(net, mesh);
    torch::optim::SGD optimizer(net->parameters(), 0.05);
    for (int step = 0; step < 3; ++step) {
      whole_optimizer.zero_grad();
      optimizer.zero_grad();
      ddp(rows(4) + rank).square().mean().backward();
      net(rows(4) + rank).square().mean().backward();
      whole_optimizer.step();
      optimizer.step();
    }
    const auto got = whole(net->parameters());
    for (size_t i = 0; i < got.size(); ++i) {
      expect(torch::allclose(got[i], twin->parameters()[i], 1e-5, 1e-6));
    }
  });
}

TEST_CASE("A model that was made on the meta device is filled part by part", "[distributed][fsdp]") {
  test::with_rank_threads(2, [&](int, const GroupPtr& group) {
    torch::nn::Sequential net(
        torch::nn::Linear(torch::nn::LinearOptions(6, 5)), torch::nn::ReLU(), torch::nn::Linear(5, 2));
    for (const auto& child : net->children()) {
      for (auto& parameter : child->named_parameters(false)) {
        parameter.value().set_data(torch::empty(parameter.value().sizes(), at::kMeta));
      }
    }
    fsdp::FullyShardOptions options;
    options.mesh(dist::DeviceMesh::from_group(group));
    fsdp::fully_shard(net[0], options);
    auto module = fsdp::fully_shard(net, options);
    expect(net->parameters()[0].is_meta());
    expect_error([&] { net(rows(2)); }, {"meta"});
    module.to_empty(c10::kCPU);
    module.initialize([](torch::nn::Module& one) {
      for (const auto& below : one.modules()) {
        if (auto* linear = below->as<torch::nn::LinearImpl>();
            linear && linear->weight.size(0) == linear->options.out_features()) {
          linear->reset_parameters();
        }
      }
    });
    const auto all = whole(net->parameters());
    expect(all[0].sizes() == at::IntArrayRef({5, 6}) && all[0].abs().sum().item<float>() > 0);
    auto first = all[0].clone();
    dist::broadcast(first, 0, group);
    expect(first.equal(all[0]));
    net(rows(2)).sum().backward();
    expect(net->parameters()[0].grad().defined());
  });
}

TEST_CASE("The norm of parts is that of the whole", "[distributed][fsdp]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Deep twin;
    DistributedDataParallel<Deep> ddp(twin, ddp_options(group));
    Deep net;
    shard(net, dist::DeviceMesh::from_group(group));
    for (const double type : {1.0, 2.0, double(INFINITY)}) {
      ddp.zero_grad();
      net->zero_grad();
      ddp(rows(4) + rank).square().sum().backward();
      net(rows(4) + rank).square().sum().backward();
      const double expected = torch::nn::utils::clip_grad_norm_(twin->parameters(), 0.5, type);
      const double got = fsdp::clip_grad_norm_(net->parameters(), 0.5, type).item<double>();
      expect(std::abs(got - expected) < 1e-4 * expected, std::to_string(got) + " " + std::to_string(expected));
      const auto grad = net->parameters()[0].grad();
      expect(
          torch::allclose(grad, twin->parameters()[0].grad().narrow(0, rank == 0 ? 0 : 3, grad.size(0)), 1e-4, 1e-6) ||
          net->parameters()[0].dim() == 2);
    }
  });
}

TEST_CASE("Cut models are saved by some ranks and loaded by others", "[distributed][fsdp][checkpoint]") {
  namespace checkpoint = torch::distributed::checkpoint;
  const auto folder =
      (std::filesystem::temp_directory_path() / ("fsdp_checkpoint_" + std::to_string(::getpid()))).string();
  std::vector<at::Tensor> expected;
  const auto step = [](Deep& net, torch::optim::Optimizer& optimizer) {
    optimizer.zero_grad();
    net(rows(4)).square().mean().backward(); // the same on all ranks
    optimizer.step();
  };
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Deep net;
    shard(net, dist::DeviceMesh::from_group(group));
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));
    step(net, optimizer);
    checkpoint::save(checkpoint::State().add("model", net).add("optim", optimizer, net), folder, group);
    step(net, optimizer);
    const auto all = whole(net->parameters());
    if (rank == 0) {
      expected = all;
    }
  });
  for (const int size : {1, 3}) {
    test::with_rank_threads(size, [&](int, const GroupPtr& group) {
      Deep net;
      if (size > 1) {
        shard(net, dist::DeviceMesh::from_group(group));
      }
      torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.5));
      checkpoint::load(checkpoint::State().add("model", net).add("optim", optimizer, net), folder);
      step(net, optimizer);
      const auto got = whole(net->parameters());
      for (size_t i = 0; i < got.size(); ++i) {
        expect(torch::allclose(got[i], expected[i], 1e-5, 1e-6), "parameter " + std::to_string(i));
      }
    });
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("A root may have no parameters beside those of the groups below", "[distributed][fsdp]") {
  test::with_rank_threads(2, [](int, const GroupPtr& group) {
    const auto make = [] {
      torch::nn::Sequential model(torch::nn::Linear(6, 5), torch::nn::Tanh(), torch::nn::Linear(5, 2));
      test::fill(*model);
      return model;
    };
    auto plain = make();
    auto model = make();
    fsdp::FullyShardOptions options;
    options.mesh(dist::DeviceMesh::from_group(group));
    for (const auto& block : model->children()) {
      if (!block->parameters().empty()) {
        fsdp::fully_shard(block, options);
      }
    }
    auto root = fsdp::fully_shard(model, options);
    torch::optim::SGD plain_optimizer(plain->parameters(), 0.1);
    torch::optim::SGD optimizer(model->parameters(), 0.1);
    for (int step = 0; step < 3; ++step) {
      plain_optimizer.zero_grad();
      optimizer.zero_grad();
      plain->forward(rows(4)).square().mean().backward();
      model(rows(4)).square().mean().backward();
      plain_optimizer.step();
      optimizer.step();
    }
    root.unshard();
    root.reshard();
    const auto all = whole(model->parameters());
    for (size_t i = 0; i < all.size(); ++i) {
      expect(torch::allclose(all[i], plain->parameters()[i]), "parameter " + std::to_string(i));
    }
    root.initialize([](torch::nn::Module& module) {
      if (auto* linear = module.as<torch::nn::Linear>()) {
        linear->weight.fill_(3);
      }
    });
    expect(whole(model->parameters())[0].eq(3).all().item<bool>());
  });
}
