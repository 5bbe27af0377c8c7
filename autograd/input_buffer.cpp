#include <autograd/input_buffer.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/forward/levels.h>
#include <autograd/grad_mode.h>
#include <autograd/variable.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace torch::autograd {

namespace {

// Nobody else may see the tensor or its memory, and the sum must fit into it: a batch of gradients does not.
bool may_add_in_place(const Variable& sum, const Variable& var) {
  return !var.key_set().has(c10::DispatchKey::FuncTorchBatched) && !GradMode::is_enabled() &&
      !forward_ad::any_level() && sum.use_count() == 1 && sum.has_storage() && sum.storage().use_count() == 1 &&
      sum.is_non_overlapping_and_dense() && sum.scalar_type() == var.scalar_type() && sum.sizes() == var.sizes();
}

// Without the kernels of autograd, which have nothing to record.
void add_in_place(const Variable& sum, const Variable& var) {
  {
    const c10::impl::ExcludeDispatchKeyGuard guard(c10::autograd_dispatch_keyset_with_ADInplaceOrView);
    sum.add_(var);
  }
  if (!sum.is_inference()) {
    impl::bump_version(sum);
  }
}

void accumulate(Variable& sum, Variable&& var) {
  if (may_add_in_place(sum, var)) {
    add_in_place(sum, var);
  } else if (may_add_in_place(var, sum)) {
    add_in_place(var, sum);
    sum = std::move(var);
  } else if (sum.layout() != at::kStrided && var.layout() == at::kStrided) {
    sum = var + sum; // the other order is not there
  } else {
    sum = sum + var;
  }
}

void wait_for(const c10::Stream& waiting, const c10::Stream& awaited) {
  if (waiting != awaited) {
    c10::Event event(awaited.device_type());
    event.record(awaited);
    waiting.wait(event);
  }
}

} // namespace

__attribute__((flatten)) void InputBuffer::add(size_t pos, Variable&& var) {
  TORCH_INTERNAL_ASSERT(pos < buffer.size(), "gradient for input ", pos, " of a node with ", buffer.size());
  if (!var.defined()) {
    return;
  }
  Variable& sum = buffer[pos];
  if (!sum.defined()) {
    sum = std::move(var);
  } else {
    accumulate(sum, std::move(var));
  }
}

void InputBuffer::add(
    size_t pos,
    Variable&& var,
    const std::optional<c10::Stream>& producer,
    const std::optional<c10::Stream>& consumer) {
  if (!var.defined() || var.device().is_cpu() || var.device().is_meta()) {
    add(pos, std::move(var));
    return;
  }
  // The sum is made on the stream that reads it if that is on the gradient's device, else where the gradient was made.
  const c10::Device device = var.device();
  const c10::impl::VirtualGuardImpl guard(device.type());
  const bool on_producer = producer.has_value() && producer->device() == device;
  const bool on_consumer = consumer.has_value() && consumer->device() == device;
  const c10::Stream stream = on_consumer ? *consumer : (on_producer ? *producer : guard.getDefaultStream(device));
  const c10::Stream made_on = on_producer ? *producer : guard.getDefaultStream(device);
  wait_for(stream, made_on);
  if (stream != made_on) {
    guard.recordDataPtrOnStream(var.storage().data_ptr(), stream);
  }
  const c10::StreamGuard stream_guard(stream);
  add(pos, std::move(var));
}

} // namespace torch::autograd
