// A module on several devices of one process, a part of the batch each.
#pragma once

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/cuda.h>
#include <csrc/nn/Module.h>
#include <csrc/nn/pimpl.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace torch::nn {

namespace detail {
/// Has the gradients of each replica's parameters flow into those of `module`, as their sum.
TORCH_API void connect_replicas(Module& module, const std::vector<Module*>& replicas);
/// The devices of data_parallel: all of CUDA unless some are given.
TORCH_API std::vector<Device> parallel_devices(std::optional<std::vector<Device>> devices);
} // namespace detail

/// Has gradients of the replicas flow into the module's parameters.
template <typename ModuleType>
void replicate_grad_edges(
    const std::shared_ptr<Module>& module,
    const std::vector<std::shared_ptr<ModuleType>>& replicas,
    const std::vector<Device>&) {
  std::vector<Module*> modules;
  for (const auto& replica : replicas) {
    modules.push_back(replica.get());
  }
  detail::connect_replicas(*module, modules);
}

namespace parallel {

/// A copy of the module on each device, made by its clone(). Gradients of the copies' parameters are added up in the
/// module's own.
template <typename ModuleType>
std::vector<std::shared_ptr<ModuleType>> replicate(
    const std::shared_ptr<ModuleType>& module, const std::vector<Device>& devices) {
  std::vector<std::shared_ptr<ModuleType>> replicas;
  for (const Device& device : devices) {
    replicas.push_back(std::dynamic_pointer_cast<ModuleType>(module->clone(device)));
  }
  replicate_grad_edges(std::static_pointer_cast<Module>(module), replicas, devices);
  return replicas;
}

/// The same for holders.
template <typename ModuleType>
std::vector<ModuleHolder<ModuleType>> replicate(
    const ModuleHolder<ModuleType>& module, const std::vector<Device>& devices) {
  const auto replicas = replicate(module.ptr(), devices);
  return std::vector<ModuleHolder<ModuleType>>(replicas.begin(), replicas.end());
}

/// `modules[i]->forward(inputs[i])` for all i at once, each in a thread. Results are brought to `devices[i]`, or where
/// the input is. The first error of any is thrown when all have ended.
template <typename ModuleType>
std::vector<Tensor> parallel_apply(
    std::vector<ModuleType>& modules,
    const std::vector<Tensor>& inputs,
    const std::optional<std::vector<Device>>& devices = std::nullopt) {
  TORCH_CHECK(modules.size() == inputs.size(), "Must have as many inputs as modules");
  TORCH_CHECK(!devices || modules.size() == devices->size(), "Must have as many devices as modules");
  std::vector<Tensor> outputs(modules.size());
  std::vector<std::exception_ptr> errors(modules.size());
  const bool record = c10::GradMode::is_enabled();
  const auto apply = [&](size_t i) {
    try {
      const c10::AutoGradMode as_caller(record);
      outputs[i] = modules[i]->forward(inputs[i]).to(devices ? (*devices)[i] : inputs[i].device());
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < modules.size(); ++i) {
    threads.emplace_back(apply, i);
  }
  if (!modules.empty()) {
    apply(0);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
  return outputs;
}

/// `module(input)` with the input cut along `dim` and a copy of the module on each device, by default all of CUDA. The
/// result is on `output_device`, by default the first.
template <typename ModuleType>
Tensor data_parallel(
    ModuleType module,
    Tensor input,
    std::optional<std::vector<Device>> devices = std::nullopt,
    std::optional<Device> output_device = std::nullopt,
    int64_t dim = 0) {
  std::vector<Device> places = detail::parallel_devices(std::move(devices));
  const Device target = output_device.value_or(places.front());
  if (places.size() == 1) {
    module->to(places.front());
    return module->forward(input.to(places.front())).to(target);
  }
  std::vector<Tensor> parts;
  for (const Tensor& part : input.chunk(static_cast<int64_t>(places.size()), dim)) {
    parts.push_back(part.to(places[parts.size()]));
  }
  places.resize(parts.size(), places.front()); // a small input gives fewer parts
  auto replicas = replicate(module, places);
  std::vector<Tensor> outputs;
  for (const Tensor& output : parallel_apply(replicas, parts, places)) {
    outputs.push_back(output.to(target));
  }
  return at::cat(outputs, dim);
}

} // namespace parallel
} // namespace torch::nn
