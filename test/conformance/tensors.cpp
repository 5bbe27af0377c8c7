#include "tensors.h"

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>

#include <cstring>
#include <stdexcept>

#include "test/support/elements.h"

namespace conformance {

namespace {

c10::Storage host_storage(Bytes contents) {
  c10::Storage storage(
      c10::Storage::use_byte_size_t(), contents.size(), c10::GetAllocator(c10::DeviceType::CPU), /*resizable=*/true);
  if (!contents.empty()) {
    std::memcpy(storage.data_ptr().get(), contents.data(), contents.size());
  }
  return storage;
}

at::Tensor over_storage(
    c10::Storage storage,
    c10::DispatchKey backend,
    c10::ScalarType dtype,
    const std::vector<int64_t>& sizes,
    const std::vector<int64_t>& strides,
    int64_t offset) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(backend), caffe2::TypeMeta::fromScalarType(dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  tensor.unsafeGetTensorImpl()->set_storage_offset(offset);
  return tensor;
}

c10::Storage storage_on(c10::Device device, Bytes contents) {
  c10::Storage host = host_storage(contents);
  if (device.is_cpu()) {
    return host;
  }
  const at::Tensor flat = over_storage(
      std::move(host), c10::DispatchKey::CPU, c10::ScalarType::Byte, {static_cast<int64_t>(contents.size())}, {1}, 0);
  return flat.to(device).storage();
}

c10::DispatchKey backend_key(c10::Device device) {
  return device.is_cpu() ? c10::DispatchKey::CPU : c10::DispatchKey::CUDA;
}

/// Calls `visit(storage element index)` for each element in row-major order.
template <class Visit>
void for_each_index(
    const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, int64_t offset, const Visit& visit) {
  for (const int64_t size : sizes) {
    if (size == 0) {
      return;
    }
  }
  std::vector<int64_t> at(sizes.size(), 0);
  int64_t index = offset;
  for (;;) {
    visit(index);
    size_t d = sizes.size();
    for (; d > 0; --d) {
      index += strides[d - 1];
      if (++at[d - 1] < sizes[d - 1]) {
        break;
      }
      index -= strides[d - 1] * sizes[d - 1];
      at[d - 1] = 0;
    }
    if (d == 0) {
      return;
    }
  }
}

} // namespace

at::Tensor make_tensor(
    c10::ScalarType dtype,
    Bytes contents,
    const std::vector<int64_t>& sizes,
    const std::vector<int64_t>& strides,
    int64_t offset,
    c10::Device device) {
  return over_storage(storage_on(device, contents), backend_key(device), dtype, sizes, strides, offset);
}

at::Tensor make_dense(const Json& spec, const SafeTensors& data, c10::Device device) {
  const std::vector<int64_t> sizes = spec.at("s").as_ints();
  return make_tensor(
      dtype_info(spec.at("d").as_string()).type, data.at(spec.at("b").as_string()), sizes, contiguous_strides(sizes), 0,
      device);
}

at::Tensor make_wrapped_number(const Json& tagged) {
  const auto& [tag, value] = tagged.members().at(0);
  std::byte buffer[16] = {};
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  if (tag == "i") {
    dtype = c10::ScalarType::Long;
    const int64_t number = value.as_int();
    std::memcpy(buffer, &number, sizeof number);
  } else if (tag == "f") {
    dtype = c10::ScalarType::Double;
    test::write_number(dtype, value.as_double(), buffer);
  } else if (tag == "b") {
    dtype = c10::ScalarType::Bool;
    test::write_number(dtype, value.as_bool() ? 1.0 : 0.0, buffer);
  } else {
    dtype = c10::ScalarType::ComplexDouble;
    test::write_number(dtype, {value.items().at(0).as_double(), value.items().at(1).as_double()}, buffer);
  }
  at::Tensor number =
      make_tensor(dtype, {buffer, dtype_info(dtype).item_size}, {}, {}, 0, c10::Device(c10::DeviceType::CPU));
  number.unsafeGetTensorImpl()->set_wrapped_number(true);
  return number;
}

Inputs::Inputs(const Json& specs, const SafeTensors& data, c10::Device device, const std::vector<bool>& on_host) {
  for (const Json& spec : specs.items()) {
    const bool is_on_host = inputs_.size() < on_host.size() && on_host[inputs_.size()];
    const c10::Device place = is_on_host ? c10::Device(c10::DeviceType::CPU) : device;
    Input input;
    const c10::ScalarType dtype = dtype_info(spec.at("d").as_string()).type;
    input.sizes = spec.at("s").as_ints();
    const Json* strides = spec.find("st");
    input.strides = strides != nullptr ? strides->as_ints() : contiguous_strides(input.sizes);
    const Json* offset = spec.find("o");
    input.offset = offset != nullptr ? offset->as_int() : 0;
    input.owner = inputs_.size();
    if (const Json* alias = spec.find("a")) {
      const Input& base = inputs_.at(alias->as_int());
      input.owner = base.owner;
      input.contents = base.contents;
      const c10::Storage& shared = base.leaf.storage();
      input.leaf = over_storage(shared, backend_key(shared.device()), dtype, input.sizes, input.strides, input.offset);
    } else if (spec.find("dev") != nullptr) {
      input.leaf =
          at::empty(input.sizes, at::TensorOptions().dtype(dtype).device(c10::Device(spec.at("dev").as_string())));
    } else {
      input.contents = data.at(spec.at("b").as_string());
      input.leaf = make_tensor(dtype, input.contents, input.sizes, input.strides, input.offset, place);
    }
    input.storage = input.leaf.storage();
    if (spec.find("conj") != nullptr) {
      input.leaf.unsafeGetTensorImpl()->_set_conj(true);
    }
    if (spec.find("neg") != nullptr) {
      input.leaf.unsafeGetTensorImpl()->_set_neg(true);
    }
    if (spec.find("rg") != nullptr) {
      input.leaf.set_requires_grad(true);
    }
    input.passed = input.leaf;
    inputs_.push_back(std::move(input));
  }
}

void Inputs::pass_clone(size_t i) {
  inputs_[i].passed = inputs_[i].leaf.clone();
}

std::string Inputs::find_undeclared_write(const std::vector<bool>& written) const {
  for (size_t owner = 0; owner < inputs_.size(); ++owner) {
    const Input& base = inputs_[owner];
    if (base.owner != owner || base.contents.empty()) {
      continue;
    }
    std::vector<bool> may_change(base.contents.size(), false);
    for (size_t i = owner; i < inputs_.size(); ++i) {
      if (inputs_[i].owner == owner && written[i] && inputs_[i].passed.is_same(inputs_[i].leaf)) {
        mark_written(inputs_[i], may_change);
      }
    }

    const c10::Storage& storage = base.storage;
    if (storage.nbytes() < base.contents.size()) {
      return "the storage of input " + std::to_string(owner) + " shrank";
    }
    const HostView now(over_storage(
        storage, backend_key(storage.device()), c10::ScalarType::Byte, {static_cast<int64_t>(base.contents.size())},
        {1}, 0));
    for (size_t b = 0; b < base.contents.size(); ++b) {
      if (!may_change[b] && *now.at(static_cast<int64_t>(b)) != base.contents[b]) {
        return "input " + std::to_string(owner) + " was written to, at byte " + std::to_string(b) + " of its storage";
      }
    }
  }
  return {};
}

void Inputs::mark_written(const Input& input, std::vector<bool>& may_change) {
  const at::Tensor& now = input.passed;
  const bool same_place =
      now.sizes().equals(input.sizes) && now.strides().equals(input.strides) && now.storage_offset() == input.offset;
  if (!same_place) { // resized: which bytes it covered meanwhile is its own affair
    may_change.assign(may_change.size(), true);
    return;
  }
  const int64_t item = static_cast<int64_t>(now.element_size());
  for_each_index(input.sizes, input.strides, input.offset, [&](int64_t index) {
    for (int64_t b = index * item; b < (index + 1) * item; ++b) {
      if (b < static_cast<int64_t>(may_change.size())) {
        may_change[b] = true;
      }
    }
  });
}

} // namespace conformance
