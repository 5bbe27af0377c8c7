// DistributedDataParallel: what does not depend on the module's type.
#include <csrc/distributed/ddp/distributed_data_parallel.h>

#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

namespace torch::nn::parallel {

namespace {
constexpr size_t kBroadcastBytes = size_t(250) << 20;
} // namespace

DistributedDataParallelBase::DistributedDataParallelBase(
    std::shared_ptr<Module> module, DistributedDataParallelOptions options)
    : options_(std::move(options)) {
  TORCH_CHECK_VALUE(module, "DistributedDataParallel: the module is null");
  if (!options_.process_group()) {
    options_.process_group(torch::distributed::default_group());
  }
  register_module("module", module);
  std::vector<at::Tensor> trained;
  std::vector<std::string> names;
  std::vector<at::Tensor> all;
  for (const auto& parameter : module->named_parameters()) {
    all.push_back(parameter.value());
    if (parameter.value().requires_grad()) {
      trained.push_back(parameter.value());
      names.push_back(parameter.key());
    }
  }
  torch::distributed::ReducerOptions reducer;
  reducer.group = options_.process_group();
  reducer.bucket_bytes = static_cast<int64_t>(options_.bucket_cap_mb() * (1 << 20));
  reducer.first_bucket_bytes =
      std::min(reducer.bucket_bytes, static_cast<int64_t>(options_.first_bucket_cap_mb() * (1 << 20)));
  reducer.find_unused_parameters = options_.find_unused_parameters();
  reducer_ = std::make_shared<torch::distributed::GradientReducer>(trained, names, reducer);
  for (const auto& buffer : module->buffers()) {
    all.push_back(buffer);
  }
  c10d::broadcast_coalesced(options_.process_group(), all, kBroadcastBytes);
  reducer_->attach();
}

void DistributedDataParallelBase::before_forward() {
  if (!options_.broadcast_buffers() || !is_training() || !reducer_->sync() || !c10::GradMode::is_enabled()) {
    return;
  }
  const auto buffers = this->buffers();
  if (!buffers.empty()) {
    c10d::broadcast_coalesced(options_.process_group(), buffers, kBroadcastBytes);
  }
}

void DistributedDataParallelBase::register_comm_hook(std::unique_ptr<c10d::CommHookInterface> hook) {
  TORCH_CHECK_VALUE(hook, "register_comm_hook: the hook is null");
  std::shared_ptr<c10d::CommHookInterface> shared = std::move(hook);
  reducer_->set_hook([shared](c10d::GradBucket& bucket) {
    return shared->runHook(bucket)->then(
        [shared](c10::ivalue::Future& future) { return c10::IValue(shared->parseHookResult(future.value())); },
        c10::TensorType::get());
  });
}

} // namespace torch::nn::parallel
