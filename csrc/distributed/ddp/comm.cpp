// Broadcasts of many tensors, and the hooks that come with the library.
#include <csrc/distributed/ddp/comm.h>

#include <aten/Functions.h>
#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace c10d {

void broadcast_coalesced(
    const c10::intrusive_ptr<ProcessGroup>& process_group, at::TensorList tensors, size_t buffer_size, int rank) {
  const c10::NoGradGuard no_grad;
  BroadcastOptions options;
  options.rootRank = rank;
  for (size_t begin = 0; begin < tensors.size();) {
    // Neighbours of one dtype and device, up to the size of the buffer.
    size_t end = begin;
    size_t bytes = 0;
    do {
      bytes += tensors[end++].nbytes();
    } while (end < tensors.size() && tensors[end].scalar_type() == tensors[begin].scalar_type() &&
             tensors[end].device() == tensors[begin].device() && bytes + tensors[end].nbytes() <= buffer_size);
    std::vector<at::Tensor> parts;
    for (size_t i = begin; i < end; ++i) {
      parts.push_back(tensors[i].detach().reshape({-1}));
    }
    std::vector<at::Tensor> flat{at::cat(parts)};
    process_group->broadcast(flat, options)->wait();
    int64_t at = 0;
    for (size_t i = begin; i < end; ++i) {
      tensors[i].detach().copy_(flat[0].narrow(0, at, tensors[i].numel()).view(tensors[i].sizes()));
      at += tensors[i].numel();
    }
    begin = end;
  }
}

std::vector<at::Tensor> GradBucket::getGradients() const {
  std::vector<at::Tensor> gradients;
  for (size_t i = 0; i < offsets_.size(); ++i) {
    gradients.push_back(
        buffer_.narrow(0, static_cast<int64_t>(offsets_[i]), static_cast<int64_t>(lengths_[i])).view(sizes_vec_[i]));
  }
  return gradients;
}

at::Tensor detail::parseCppCommHookResult(const c10::IValue& result) {
  TORCH_CHECK(
      result.isTensor() || (result.isTensorList() && result.toTensorVector().size() == 1),
      "expected the hook result is either a Tensor or a TensorList with one tensor, but got ", result.tagKind());
  return result.isTensor() ? result.toTensor() : result.toTensorVector()[0];
}

namespace {

c10::intrusive_ptr<c10::ivalue::Future> summed(ProcessGroup& group, const at::Tensor& tensor) {
  std::vector<at::Tensor> tensors{tensor};
  return group.allreduce(tensors)->getFuture();
}

c10::intrusive_ptr<c10::ivalue::Future> summed_as(ProcessGroup& group, GradBucket& bucket, at::ScalarType dtype) {
  const at::Tensor buffer = bucket.getBuffer();
  const auto small = buffer.to(dtype).div_(group.getSize());
  return summed(group, small)
      ->then(
          [buffer](c10::ivalue::Future& future) {
            buffer.copy_(detail::parseCppCommHookResult(future.value()));
            return c10::IValue(buffer);
          },
          c10::TensorType::get());
}

} // namespace

c10::intrusive_ptr<c10::ivalue::Future> AllReduceCommHook::runHook(GradBucket& bucket) {
  bucket.getBufferRef().div_(state_->getSize());
  return summed(*state_, bucket.getBuffer());
}

c10::intrusive_ptr<c10::ivalue::Future> FP16CompressCommHook::runHook(GradBucket& bucket) {
  return summed_as(*state_, bucket, at::kHalf);
}

c10::intrusive_ptr<c10::ivalue::Future> BF16CompressCommHook::runHook(GradBucket& bucket) {
  return summed_as(*state_, bucket, at::kBFloat16);
}

c10::intrusive_ptr<c10::ivalue::Future> _AllReduceBySumCommHook::runHook(GradBucket& bucket) {
  return summed(*state_, bucket.getBuffer());
}

} // namespace c10d
