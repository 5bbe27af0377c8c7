#include "test/fuzz/device.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <torch/cuda.h>

#include "test/support/device_rules.h"
#include "test/fuzz/sparse.h"
#include "test/fuzz/tensors.h"

namespace fuzz {

using at::Tensor;

namespace {

/// A byte tensor over all of a storage.
Tensor all_bytes(const c10::Storage& storage) {
  return view_of(storage, c10::ScalarType::Byte, {static_cast<int64_t>(storage.nbytes())}, {1}, 0);
}

void take_over_flags(const Tensor& from, const Tensor& to) {
  c10::TensorImpl* impl = to.unsafeGetTensorImpl();
  if (from.is_conj()) {
    impl->_set_conj(true);
  }
  if (from.is_neg()) {
    impl->_set_neg(true);
  }
}

} // namespace

c10::Storage DeviceCopies::copy(const c10::Storage& host) {
  auto found = storages_.find(host.unsafeGetStorageImpl());
  if (found == storages_.end()) {
    found = storages_.emplace(host.unsafeGetStorageImpl(), Memory{host, all_bytes(host).to(device_).storage()}).first;
  }
  return found->second.device;
}

Tensor DeviceCopies::copy_strided(const Tensor& tensor) {
  Tensor copied = view_of(
      copy(tensor.storage()), tensor.scalar_type(), tensor.sizes().vec(), tensor.strides().vec(),
      tensor.storage_offset());
  take_over_flags(tensor, copied);
  return copied;
}

Tensor DeviceCopies::copy(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.device().is_cpu()) {
    return tensor;
  }
  Tensor& copied = tensors_[tensor.unsafeGetTensorImpl()];
  if (copied.defined()) {
    return copied;
  }
  if (is_sparse(tensor)) {
    std::vector<Tensor> parts = members(tensor);
    for (Tensor& part : parts) {
      part = copy(part);
    }
    copied = rebuilt(tensor, parts);
  } else {
    copied = copy_strided(tensor);
  }
  if (tensor.is_leaf() && tensor.requires_grad()) {
    copied.set_requires_grad(true);
  }
  return copied;
}

Stack DeviceCopies::arguments(const Call& call) {
  const c10::FunctionSchema& schema = call.op.schema();
  const std::vector<bool> written = written_arguments(schema);
  Stack args = call.args;
  for (size_t i = 0; i < args.size(); ++i) {
    c10::IValue& value = args[i];
    const c10::Argument& argument = schema.arguments()[i];
    if (argument.name() == "device" && (value.isNone() || (value.isDevice() && value.toDevice().is_cpu()))) {
      value = device_;
    }
    if (value.isStorage() && value.toStorage() && value.toStorage().device().is_cpu()) {
      value = copy(value.toStorage());
    }
    if (value.isGenerator() && value.toGenerator().defined()) {
      value = at::globalContext().defaultGenerator(device_);
    }
    if (test::belongs_on_host(full_name(schema), argument.name())) {
      continue;
    }
    value = test::with_tensors({value}, [&](const Tensor& tensor) {
      return tensor.unsafeGetTensorImpl()->is_wrapped_number() && !written[i] ? tensor : copy(tensor);
    })[0];
  }
  return args;
}

Tensor DeviceCopies::copy_of(const Tensor& tensor) const {
  const auto found = tensors_.find(tensor.unsafeGetTensorImpl());
  return found == tensors_.end() ? Tensor() : found->second;
}

std::vector<DeviceCopies::Memory> DeviceCopies::memory() const {
  std::vector<Memory> all;
  for (const auto& [impl, memory] : storages_) {
    all.push_back(memory);
  }
  return all;
}

void wait_for(c10::Device device) {
  torch::cuda::synchronize(device.index());
}

Attempt attempt_on(c10::Device device, const c10::OperatorHandle& op, Stack args) {
  Attempt end = attempt([&] {
    op.callBoxed(args);
    wait_for(device);
  });
  if (end.succeeded) {
    end.results = std::move(args);
  }
  return end;
}

bool is_lost(c10::Device device) {
  return !attempt([&] { wait_for(device); }).succeeded;
}

std::vector<char> bytes_of(const c10::Storage& storage) {
  if (storage.nbytes() == 0) {
    return {};
  }
  const Tensor bytes = all_bytes(storage).cpu();
  const auto* data = static_cast<const char*>(bytes.const_data_ptr());
  return {data, data + storage.nbytes()};
}

Stack brought_back(const Stack& results) {
  return test::with_tensors(results, [](const Tensor& tensor) {
    return tensor.device().is_meta() || tensor.device().is_cpu() ? tensor : tensor.detach().cpu();
  });
}

} // namespace fuzz
