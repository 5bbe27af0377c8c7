// fully_shard with shards on the CPU and the computation on a device.
#include "toy.h"

#include "test/distributed/expect.h"
#include "test/distributed/ranks.h"

#include <catch2/catch.hpp>

#include <torch/distributed.h>

namespace dist = torch::distributed;
namespace fsdp = torch::distributed::fsdp;
using Tensors = std::vector<at::Tensor>;
using test::expect;

namespace {

// Collectives of the toy's tensors by way of the CPU.
class StagedBackend : public c10d::Backend {
 public:
  explicit StagedBackend(c10::intrusive_ptr<c10d::Backend> inner)
      : Backend(inner->getRank(), inner->getSize()), inner_(std::move(inner)) {}

  const std::string getBackendName() const override {
    return "staged";
  }
  c10::intrusive_ptr<c10d::Work> all_gather_single(
      at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& opts) override {
    at::Tensor in = input.cpu(), out = output.cpu();
    return copied_back(inner_->all_gather_single(out, in, opts), out, output);
  }
  c10::intrusive_ptr<c10d::Work> reduce_scatter_single(
      at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) override {
    at::Tensor in = input.cpu(), out = output.cpu();
    return copied_back(inner_->reduce_scatter_single(out, in, opts), out, output);
  }
  c10::intrusive_ptr<c10d::Work> allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override {
    Tensors staged{tensors.at(0).cpu()};
    return copied_back(inner_->allreduce(staged, opts), staged[0], tensors[0]);
  }

 private:
  static c10::intrusive_ptr<c10d::Work> copied_back(
      c10::intrusive_ptr<c10d::Work> work, const at::Tensor& from, at::Tensor& to) {
    work->wait();
    to.copy_(from);
    return work;
  }

  c10::intrusive_ptr<c10d::Backend> inner_;
};

struct NetImpl : torch::nn::Module {
  NetImpl() {
    up = register_module("up", torch::nn::Linear(5, 7));
    down = register_module("down", torch::nn::Linear(7, 3));
    const torch::NoGradGuard no_grad;
    double start = 0.1;
    for (auto& parameter : parameters()) {
      parameter.copy_(at::arange(parameter.numel()).remainder(5).view(parameter.sizes()) * 0.1 - start);
      start += 0.05;
    }
  }
  at::Tensor forward(const at::Tensor& x) {
    return down(torch::tanh(up(x)));
  }
  torch::nn::Linear up{nullptr}, down{nullptr};
};
TORCH_MODULE(Net);

// Three steps of this rank's part; the parts of the parameters then.
Tensors train(Net& net, const dist::DeviceMesh& mesh, fsdp::FullyShardOptions options, const at::Tensor& x) {
  options.mesh(mesh);
  fsdp::fully_shard(net->up, options);
  fsdp::fully_shard(net, options);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    net(x).square().sum().backward();
    fsdp::clip_grad_norm_(net->parameters(), 0.5);
    optimizer.step();
  }
  return net->parameters();
}

} // namespace

TEST_CASE("fully_shard keeps shards on the CPU and computes on the mesh's device", "[fsdp]") {
  const toy::CpuFallback fallback;
  const int64_t before = toy::live_blocks();
  test::with_rank_threads(2, [](int rank, const test::GroupPtr& group) {
    // A device for each rank: a device has one thread for backward passes, in which ranks would wait for each other.
    const auto device = toy::device(static_cast<c10::DeviceIndex>(rank));
    const c10::DeviceGuard guard(device);
    const auto on_toy = c10::make_intrusive<c10d::ProcessGroup>(group->getStore(), rank, group->getSize());
    on_toy->setBackend(
        toy::kToy, c10d::ProcessGroup::CUSTOM, c10::make_intrusive<StagedBackend>(group->getBackend(c10::kCPU)));
    const auto x = (at::arange(20).view({4, 5}) * (rank + 1)).remainder(7) * 0.1;
    Net plain, offloaded;
    const auto wanted = train(plain, dist::DeviceMesh::from_group(group), {}, x);
    const auto parts = train(
        offloaded, dist::DeviceMesh::from_group(on_toy, toy::kToy),
        fsdp::FullyShardOptions().offload_policy(fsdp::CPUOffloadPolicy()), x.to(device));
    expect(parts.size() == wanted.size(), "as many parameters");
    for (size_t i = 0; i < parts.size(); ++i) {
      expect(parts[i].is_cpu() && parts[i].grad().is_cpu(), "a shard and its gradient are on the CPU");
      expect(at::equal(parts[i], wanted[i]), "the same bits as without offloading");
    }
    const auto y = offloaded(x.to(device));
    expect(y.device() == device, "results are on the device");
  });
  CHECK(toy::live_blocks() == before);
}
