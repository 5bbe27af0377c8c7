// What stages of a pipeline tell one another.
#include <csrc/distributed/pipeline/messages.h>

#include <aten/Functions.h>

#include <algorithm>

namespace torch::distributed::pipelining {

namespace {
constexpr int64_t kUndefined = -1; // in the place of a dtype
}

at::Tensor numbers(const std::vector<int64_t>& values, at::Device device) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<int64_t>());
  return tensor.to(device);
}

// The number of tensors, then dtype, whether a gradient is required, and sizes of each.
StageMessages::Likeness StageMessages::likeness_of(const std::vector<at::Tensor>& tensors) {
  Likeness likeness{static_cast<int64_t>(tensors.size())};
  for (const auto& tensor : tensors) {
    if (!tensor.defined()) {
      likeness.push_back(kUndefined);
      continue;
    }
    likeness.push_back(static_cast<int64_t>(tensor.scalar_type()));
    likeness.push_back(tensor.requires_grad() ? 1 : 0);
    likeness.push_back(tensor.dim());
    likeness.insert(likeness.end(), tensor.sizes().begin(), tensor.sizes().end());
  }
  return likeness;
}

std::vector<at::Tensor> StageMessages::tensors_like(const Likeness& likeness, at::Device device) {
  std::vector<at::Tensor> tensors;
  size_t at = 0;
  for (int64_t left = likeness[at++]; left > 0; --left) {
    if (likeness[at] == kUndefined) {
      ++at;
      tensors.emplace_back();
      continue;
    }
    const auto dtype = static_cast<at::ScalarType>(likeness[at++]);
    const bool requires_grad = likeness[at++] != 0;
    const auto dim = static_cast<size_t>(likeness[at++]);
    const at::IntArrayRef sizes(likeness.data() + at, dim);
    at += dim;
    tensors.push_back(at::empty(sizes, at::TensorOptions(dtype).device(device)).requires_grad_(requires_grad));
  }
  return tensors;
}

void StageMessages::send_one(const at::Tensor& tensor, int to, int tag) {
  std::vector<at::Tensor> one{tensor};
  under_way_.push_back(group_->send(one, to, tag));
}

void StageMessages::receive_one(const at::Tensor& tensor, int from, int tag) {
  std::vector<at::Tensor> one{tensor};
  group_->recv(one, from, tag)->wait();
}

void StageMessages::send(const std::vector<at::Tensor>& tensors, int to, int tag) {
  Likeness likeness = likeness_of(tensors);
  const auto options = at::TensorOptions(at::kLong).device(device_);
  Likeness& last = sent_[{to, tag}];
  if (likeness == last) {
    send_one(at::zeros({1}, options), to, tag);
  } else {
    send_one(at::full({1}, static_cast<int64_t>(likeness.size()), options), to, tag);
    send_one(numbers(likeness, device_), to, tag);
    last = std::move(likeness);
  }
  for (const auto& tensor : tensors) {
    if (tensor.defined() && tensor.numel() > 0) {
      send_one(tensor.detach().contiguous(), to, tag);
    }
  }
}

std::vector<at::Tensor> StageMessages::receive(int from, int tag) {
  const auto options = at::TensorOptions(at::kLong).device(device_);
  const at::Tensor size = at::empty({1}, options);
  receive_one(size, from, tag);
  Likeness& last = received_[{from, tag}];
  if (const auto length = size.item<int64_t>(); length != 0) {
    const at::Tensor likeness = at::empty({length}, options);
    receive_one(likeness, from, tag);
    const at::Tensor here = likeness.cpu();
    last.assign(here.const_data_ptr<int64_t>(), here.const_data_ptr<int64_t>() + length);
  }
  auto tensors = tensors_like(last, device_);
  for (const auto& tensor : tensors) {
    if (tensor.defined() && tensor.numel() > 0) {
      receive_one(tensor.detach(), from, tag);
    }
  }
  return tensors;
}

void StageMessages::flush() {
  for (const auto& work : under_way_) {
    work->wait();
  }
  under_way_.clear();
}

} // namespace torch::distributed::pipelining
