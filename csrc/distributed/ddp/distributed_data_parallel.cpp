// DistributedDataParallel: what does not depend on the module's type.
#include <csrc/distributed/ddp/distributed_data_parallel.h>

#include <aten/Functions.h>
#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/modules/embedding.h>

#include <algorithm>

namespace torch::nn::parallel {

namespace {

constexpr size_t kBroadcastBytes = size_t(250) << 20;

// The tables of embeddings that ask for sparse gradients.
std::vector<at::Tensor> sparse_parameters(const Module& module) {
  std::vector<at::Tensor> found;
  for (const auto& child : module.modules()) {
    if (const auto* table = child->as<EmbeddingImpl>(); table && table->options.sparse()) {
      found.push_back(table->weight);
    } else if (const auto* bags = child->as<EmbeddingBagImpl>(); bags && bags->options.sparse()) {
      found.push_back(bags->weight);
    }
  }
  return found;
}

// Sums in another dtype.
torch::distributed::CommHook reduced_in(torch::distributed::GroupPtr group, c10::ScalarType dtype) {
  return [group = std::move(group), dtype](c10d::GradBucket& bucket) {
    const at::Tensor buffer = bucket.getBuffer();
    std::vector<at::Tensor> tensors{buffer.to(dtype).div_(group->getSize())};
    return group->allreduce(tensors)->getFuture()->then(
        [buffer](c10::ivalue::Future& future) {
          buffer.copy_(c10d::detail::parseCppCommHookResult(future.value()));
          return c10::IValue(buffer);
        },
        c10::TensorType::get());
  };
}

} // namespace

DistributedDataParallelBase::DistributedDataParallelBase(
    std::shared_ptr<Module> module, DistributedDataParallelOptions options)
    : options_(std::move(options)) {
  TORCH_CHECK_VALUE(module, "DistributedDataParallel: the module is null");
  if (!options_.process_group()) {
    options_.process_group(torch::distributed::default_group());
  }
  register_module("module", module);
  const auto sparse = sparse_parameters(*module);
  const auto& mixed = options_.mixed_precision();
  if (mixed.param_dtype()) {
    converted_ = std::make_unique<torch::distributed::ConvertedParameters>(module, *mixed.param_dtype());
  }
  if (mixed.buffer_dtype()) {
    for (auto& buffer : module->buffers()) {
      if (buffer.is_floating_point()) {
        buffer.set_data(buffer.to(*mixed.buffer_dtype()));
      }
    }
  }
  torch::distributed::ReducerOptions reducer;
  std::vector<at::Tensor> trained;
  std::vector<std::string> names;
  std::vector<at::Tensor> all;
  for (const auto& parameter : module->named_parameters()) {
    all.push_back(parameter.value());
    if (parameter.value().requires_grad()) {
      trained.push_back(parameter.value());
      names.push_back(parameter.key());
      reducer.sparse.push_back(std::any_of(
          sparse.begin(), sparse.end(), [&](const at::Tensor& table) { return table.is_same(parameter.value()); }));
    }
  }
  reducer.group = options_.process_group();
  reducer.bucket_bytes = static_cast<int64_t>(options_.bucket_cap_mb() * (1 << 20));
  reducer.first_bucket_bytes =
      std::min(reducer.bucket_bytes, static_cast<int64_t>(options_.first_bucket_cap_mb() * (1 << 20)));
  reducer.find_unused_parameters = options_.find_unused_parameters();
  reducer.static_graph = options_.static_graph();
  reducer_ = std::make_shared<torch::distributed::GradientReducer>(trained, names, reducer);
  if (mixed.reduce_dtype()) {
    reducer_->set_hook(reduced_in(options_.process_group(), *mixed.reduce_dtype()));
  }
  for (const auto& buffer : module->buffers()) {
    all.push_back(buffer);
  }
  if (options_.init_sync()) {
    c10d::broadcast_coalesced(options_.process_group(), all, kBroadcastBytes);
  }
  reducer_->attach();
}

bool DistributedDataParallelBase::syncs_now() const {
  return is_training() && reducer_->sync() && c10::GradMode::is_enabled();
}

void DistributedDataParallelBase::before_forward() {
  int source = 0;
  if (is_training() && c10::GradMode::is_enabled()) {
    if (const auto* step = notify(reducer_->sync())) {
      source = step->first_active();
      if (!join_divides_by_world()) {
        reducer_->set_divisor(step->active_count());
      }
    }
  }
  if (syncs_now()) {
    if (buffer_hook_ && buffer_hook_location_ == BufferCommHookLocation::PRE_FORWARD) {
      call_buffer_hook();
    } else if (!buffer_hook_ && options_.broadcast_buffers()) {
      broadcast_buffers(source);
    }
  }
  if (converted_) {
    converted_->renew();
  }
}

void DistributedDataParallelBase::after_forward() {
  if (buffer_hook_ && buffer_hook_location_ == BufferCommHookLocation::POST_FORWARD && syncs_now()) {
    call_buffer_hook();
  }
}

void DistributedDataParallelBase::broadcast_buffers(int from) {
  const auto buffers = this->buffers();
  if (!buffers.empty()) {
    c10d::broadcast_coalesced(options_.process_group(), buffers, kBroadcastBytes, from);
  }
}

void DistributedDataParallelBase::call_buffer_hook() const {
  const c10::NoGradGuard no_grad;
  std::vector<std::pair<std::string, at::Tensor>> buffers;
  for (const auto& buffer : named_buffers()) {
    buffers.push_back(buffer.pair());
  }
  buffer_hook_(buffers);
}

void DistributedDataParallelBase::convert_tensor(at::Tensor& tensor) const {
  const auto& dtype = options_.mixed_precision().param_dtype();
  if (dtype && tensor.defined() && tensor.is_floating_point()) {
    tensor = tensor.to(*dtype);
  }
}

void DistributedDataParallelBase::register_comm_hook(Hook hook) {
  TORCH_CHECK_VALUE(hook, "register_comm_hook: the hook is empty");
  TORCH_CHECK(!has_hook_, "register_comm_hook or register_builtin_comm_hook can only be called once.");
  TORCH_CHECK(
      !options_.mixed_precision().reduce_dtype(),
      "register_comm_hook: mixed_precision has a reduce_dtype, which is a hook itself");
  has_hook_ = true;
  reducer_->set_hook(std::move(hook));
}

void DistributedDataParallelBase::register_buffer_comm_hook(BufferHook hook, BufferCommHookLocation location) {
  TORCH_CHECK_VALUE(hook, "register_buffer_comm_hook: the hook is empty");
  buffer_hook_ = std::move(hook);
  buffer_hook_location_ = location;
}

torch::distributed::GroupPtr DistributedDataParallelBase::join_group() const {
  return options_.process_group();
}

void DistributedDataParallelBase::follow(const torch::distributed::JoinStep& step) {
  if (!step.syncs) {
    return;
  }
  TORCH_CHECK(!buffer_hook_, "DistributedDataParallel: join does not go with a hook for buffers");
  if (options_.broadcast_buffers()) {
    broadcast_buffers(step.first_active());
  }
  if (!join_divides_by_world()) {
    reducer_->set_divisor(step.active_count());
  }
  reducer_->follow_pass();
}

void DistributedDataParallelBase::after_join(const torch::distributed::JoinStep& last) {
  reducer_->set_divisor(options_.process_group()->getSize());
  std::vector<at::Tensor> all = parameters();
  for (const auto& buffer : buffers()) {
    all.push_back(buffer);
  }
  c10d::broadcast_coalesced(options_.process_group(), all, kBroadcastBytes, std::max(0, last.first_active()));
}

} // namespace torch::nn::parallel
