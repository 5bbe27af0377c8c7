// Operators without a rule: called for each sample, and the results are stacked.
#include <aten/functorch/batch_rules.h>
#include <aten/functorch/looped_operators.h>

#include <aten/core/Tensor.h>
#include <aten/core/function_schema.h>
#include <aten/ops/stack.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

namespace at::functorch {

namespace {

using torch::jit::Stack;

struct Looped {
  std::mutex mutex;
  std::set<std::string> names;
};

Looped& looped() {
  static auto* const looped = new Looped(); // used by threads until the end
  return *looped;
}

void say_once(const BatchCall& call) {
  std::string name = c10::toString(call.op().operator_name());
  {
    Looped& all = looped();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (!all.names.insert(name).second) {
      return;
    }
  }
  TORCH_WARN(
      "There is a performance drop because there is no batching rule for ", name,
      ": vmap calls it for each sample. A kernel for the key FuncTorchBatched would be its rule");
}

void check_loops(const BatchCall& call) {
  for (const c10::Argument& argument : call.schema().arguments()) {
    TORCH_CHECK(
        !argument.is_out(), "Batching rule not implemented for ", call.op().operator_name(),
        "; the fallback path doesn't work on out= or view ops. Call the form without out=");
  }
  TORCH_CHECK(
      !call.schema().is_view(), "Batching rule not implemented for ", call.op().operator_name(),
      "; the fallback path doesn't work on out= or view ops.");
  for (const c10::Argument& result : call.schema().returns()) {
    const c10::TypeKind kind = result.type()->kind();
    TORCH_CHECK(
        kind == c10::TypeKind::TensorType || kind == c10::TypeKind::ListType, "Batching rule not implemented for ",
        call.op().operator_name(), ". We could not generate a fallback: it returns ", result.type()->str(),
        ", which cannot be different for each sample");
  }
}

Stack arguments_of_sample(const BatchCall& call, int64_t b) {
  return call.with_tensors([&](size_t i, const Tensor& tensor) {
    const BatchedValue batched = value_at(tensor, call.level());
    const Tensor sample = batched.is_batched() ? batched.value.select(*batched.bdim, b) : batched.value;
    // Where the batch is in between, strides are none that an operator would meet without it.
    return call.is_written(i) || batched.bdim.value_or(0) == 0 ? sample : sample.contiguous();
  });
}

bool has_sizes_without_values(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::Meta) ||
      op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
      op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
}

// Of no samples there are no results to be stacked: a sample of zeros says what they are like.
Stack results_without_samples(const BatchCall& call) {
  TORCH_CHECK(
      has_sizes_without_values(call.op()), "vmap: ", call.name(),
      " has results whose sizes depend on values, and there is no sample: the batch is empty. Call it outside of vmap");
  Stack results =
      call.call(call.with_tensors([&](size_t, const Tensor& tensor) { return zero_sample(tensor, call.level()); }));
  for (c10::IValue& result : results) {
    if (result.isTensor()) {
      result = no_samples_of(result.toTensor());
    } else if (result.isTensorList()) {
      std::vector<Tensor> list = result.toTensorVector();
      std::transform(list.begin(), list.end(), list.begin(), no_samples_of);
      result = std::move(list);
    }
  }
  return results;
}

Tensor stacked(const BatchCall& call, const std::vector<Tensor>& samples) {
  if (!samples[0].defined()) {
    return {};
  }
  for (const Tensor& sample : samples) {
    TORCH_CHECK(
        sample.sizes() == samples[0].sizes(),
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over ",
        call.name(), ", which gave ", samples[0].sizes(), " for the first sample and ", sample.sizes(),
        " for another one");
  }
  return at::stack(samples);
}

c10::IValue stacked_results(const BatchCall& call, const std::vector<Stack>& all, size_t r) {
  if (all[0][r].isTensor()) {
    std::vector<Tensor> samples;
    for (const Stack& results : all) {
      samples.push_back(results[r].toTensor());
    }
    return stacked(call, samples);
  }
  std::vector<Tensor> list(all[0][r].toTensorVector().size());
  for (size_t k = 0; k < list.size(); ++k) {
    std::vector<Tensor> samples;
    for (const Stack& results : all) {
      samples.push_back(results[r].toTensorVector().at(k));
    }
    list[k] = stacked(call, samples);
  }
  return list;
}

} // namespace

std::vector<std::string> looped_operators() {
  Looped& all = looped();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return {all.names.begin(), all.names.end()};
}

void batch_by_loop(const BatchCall& call) {
  check_loops(call);
  call.check_written();
  say_once(call);
  if (call.batch_size() == 0) {
    return call.finish(results_without_samples(call));
  }
  std::vector<Stack> all;
  for (int64_t b = 0; b < call.batch_size(); ++b) {
    all.push_back(call.call(arguments_of_sample(call, b)));
  }
  Stack results;
  for (size_t r = 0; r < call.schema().returns().size(); ++r) {
    const c10::AliasInfo* const alias = call.schema().returns()[r].alias_info();
    const bool is_argument = alias != nullptr && alias->isWrite();
    results.push_back(is_argument ? c10::IValue() : stacked_results(call, all, r));
  }
  call.finish(std::move(results));
}

} // namespace at::functorch
