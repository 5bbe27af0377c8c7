// The code of docs/distributed.md, as it stands there, run by a group of one process.
#include "ranks.h"

#include <catch2/catch.hpp>

#include <csrc/distributed/store/HashStore.h>
#include <torch/distributed.h>
#include <torch/torch.h>

#include "test/support/doc_code.h"

#include <filesystem>
#include <string>
#include <vector>

namespace first_page {
int main() {
  torch::distributed::Session session;
  torch::nn::Linear net(10, 2);
  torch::nn::parallel::DistributedDataParallel<torch::nn::Linear> ddp(net);
  torch::optim::SGD optimizer(ddp.parameters(), 0.1);
  for (int step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    ddp(torch::randn({8, 10})).square().mean().backward();
    optimizer.step();
  }
  return 0;
}
} // namespace first_page

namespace {

namespace dist = torch::distributed;
using torch::nn::parallel::DistributedDataParallel;
using torch::nn::parallel::DistributedDataParallelOptions;

void train(torch::nn::Linear net, const std::vector<at::Tensor>& batches) {
  dist::convert_sync_batchnorm(net);
  DistributedDataParallel<torch::nn::Linear> ddp(net, DistributedDataParallelOptions().bucket_cap_mb(50));
  ddp.register_comm_hook(dist::bf16_compress_wrapper(std::make_unique<dist::PowerSGDHook>(
      dist::default_group(), dist::PowerSGDOptions().matrix_approximation_rank(2))));
  dist::ZeroRedundancyOptimizer<torch::optim::AdamW> optimizer(ddp.parameters(), torch::optim::AdamWOptions(1e-3));
  const dist::Join join({&ddp, &optimizer});
  for (const auto& batch : batches) {
    optimizer.zero_grad();
    ddp(batch).square().mean().backward();
    optimizer.step();
  }
}

void shard_and_train(torch::nn::Sequential model, const at::Tensor& x) {
  namespace fsdp = torch::distributed::fsdp;
  for (const auto& block : model->children()) {
    if (!block->parameters().empty()) {
      fsdp::fully_shard(block);
    }
  }
  fsdp::fully_shard(model);
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-3));
  model(x).square().mean().backward();
  fsdp::clip_grad_norm_(model->parameters(), 1.0);
  optimizer.step();
}

void train_in_stages(torch::nn::Sequential part, torch::optim::Optimizer& optimizer, at::Tensor x, at::Tensor y) {
  namespace pipelining = torch::distributed::pipelining;
  const int rank = torch::distributed::get_rank();
  const int ranks = torch::distributed::get_world_size();
  pipelining::Pipeline pipeline(
      {pipelining::PipelineStage(part, rank)}, pipelining::one_forward_one_backward(ranks, /*microbatches=*/8),
      [](const at::Tensor& output, const at::Tensor& target) { return torch::mse_loss(output, target); });
  optimizer.zero_grad();
  const auto result = pipeline.step({x}, y);
  optimizer.step();
}

void save_and_load(torch::nn::Linear model, torch::optim::Adam& optimizer, c10::IValue& step) {
  namespace checkpoint = torch::distributed::checkpoint;
  checkpoint::State state;
  state.add("model", model).add("optim", optimizer, model).add("step", &step);
  checkpoint::save(state, "run/latest");
  checkpoint::async_save(state, "run/latest");
  checkpoint::load(state, "run/latest");
}

// In a process of its own, whose group of all processes is its own.
std::string alone(const std::function<std::string()>& body) {
  return test::with_store_processes(1, [&](int, const c10::intrusive_ptr<c10d::Store>& store) {
    const dist::Session session(dist::InitOptions().store(store).rank(0).world_size(1));
    return body();
  })[0];
}

} // namespace

TEST_CASE("Each line of code of docs/distributed.md is compiled here", "[distributed][docs]") {
  const std::filesystem::path tests = std::filesystem::path(TEST_DISTRIBUTED_DATA).parent_path();
  const test::DocCode code =
      test::look_for_doc_code(tests.parent_path().parent_path() / "docs/distributed.md", tests / "docs_test.cpp");
  CHECK(code.missing == std::vector<std::string>());
  CHECK(code.lines > 60);
}

TEST_CASE("The code of docs/distributed.md runs", "[distributed][docs]") {
  const auto first = test::with_store_processes(
      1, [](int, const auto&) { return first_page::main() == 0 ? std::string("done") : std::string(); });
  CHECK(first[0] == "done");
  CHECK(alone([] {
          torch::nn::Linear net(10, 2);
          const auto before = net->weight.clone();
          train(net, {torch::randn({8, 10}), torch::randn({8, 10})});
          return net->weight.equal(before) ? "not trained" : "trained";
        }) == "trained");
  CHECK(alone([] {
          torch::nn::Sequential model(torch::nn::Linear(4, 4), torch::nn::ReLU(), torch::nn::Linear(4, 1));
          const auto before = model->parameters()[0].clone();
          shard_and_train(model, torch::randn({8, 4}));
          return model->parameters()[0].equal(before) ? "not trained" : "trained";
        }) == "trained");
  CHECK(alone([] {
          torch::nn::Sequential part(torch::nn::Linear(4, 2));
          const auto before = part->parameters()[0].clone();
          torch::optim::SGD optimizer(part->parameters(), 0.1);
          train_in_stages(part, optimizer, torch::randn({16, 4}), torch::randn({16, 2}));
          return part->parameters()[0].equal(before) ? "not trained" : "trained";
        }) == "trained");
}

TEST_CASE("The checkpoints of docs/distributed.md are saved and loaded", "[distributed][docs]") {
  const auto folder = std::filesystem::temp_directory_path() / ("docs_distributed_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  CHECK(alone([&] {
          std::filesystem::current_path(folder);
          torch::nn::Linear model(3, 2);
          torch::optim::Adam optimizer(model->parameters(), 0.1);
          model(torch::ones({1, 3})).sum().backward();
          optimizer.step();
          c10::IValue step(7);
          save_and_load(model, optimizer, step);
          return step.toInt() == 7 && std::filesystem::exists(folder / "run/latest/.metadata") ? "loaded" : "lost";
        }) == "loaded");
  std::filesystem::remove_all(folder);
}
