// Copies that a CUDA device takes part in. at::copy_ has checked shapes and overlap, and takes care of lazy conjugation
// and negation: what comes here are elements as they lie in memory.
#include <aten/Functions.h>
#include <aten/core/TensorSpec.h>
#include <aten/cuda/CachingHostAllocator.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/pointwise_run.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/PeerToPeerAccess.h>

#include <cstdint>
#include <cstring>

namespace at::native {

namespace {

/// Same elements in the same order of memory, without gaps.
bool is_one_block(const Tensor& dst, const Tensor& src) {
  return dst.scalar_type() == src.scalar_type() && dst.sizes() == src.sizes() &&
      ((dst.is_contiguous() && src.is_contiguous()) ||
       (dst.strides() == src.strides() && dst.is_non_overlapping_and_dense()));
}

/// One direct transfer between host and device. Returns when `host` may be used again, or, if it may be left to the
/// device and is pinned, at once.
void transfer(void* dst, const void* src, const Tensor& host, size_t bytes, cudaMemcpyKind kind, bool non_blocking) {
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  const bool capturing = c10::cuda::captures_underway() != 0 && stream.is_capturing();
  if (C10_UNLIKELY(capturing)) {
    TORCH_CHECK(
        host.is_pinned() && non_blocking,
        "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned and the "
        "copy "
        "non-blocking. Please use tensor.pin_memory() or allocate the tensor with pin_memory=True.");
  }
  C10_CUDA_CHECK(cudaMemcpyAsync(dst, src, bytes, kind, stream));
  const c10::DataPtr& memory = host.storage().data_ptr();
  if (non_blocking && at::cuda::CachingHostAllocator_recordEvent(memory.get(), memory.get_context(), stream)) {
    return;
  }
  // What others have pinned is theirs to keep until the graph goes.
  if (C10_UNLIKELY(capturing)) {
    return;
  }
  stream.synchronize();
}

void copy_to_device(const Tensor& dst, const Tensor& src, bool non_blocking) {
  const c10::cuda::CUDAGuard guard(dst.device());
  if (is_one_block(dst, src)) {
    transfer(dst.mutable_data_ptr(), src.const_data_ptr(), src, src.nbytes(), cudaMemcpyHostToDevice, non_blocking);
    return;
  }
  const Tensor host = src.contiguous();
  const bool direct = is_one_block(dst, host);
  const Tensor target = direct ? dst : empty_contiguous(host.sizes(), host.scalar_type(), dst.device());
  transfer(
      target.mutable_data_ptr(), host.const_data_ptr(), host, host.nbytes(), cudaMemcpyHostToDevice,
      non_blocking && host.is_same(src));
  if (!direct) {
    cuda::copy_on_device(dst, target.expand(dst.sizes()));
  }
}

void copy_to_host(Tensor& dst, const Tensor& src, bool non_blocking) {
  const c10::cuda::CUDAGuard guard(src.device());
  if (is_one_block(dst, src)) {
    transfer(dst.mutable_data_ptr(), src.const_data_ptr(), dst, src.nbytes(), cudaMemcpyDeviceToHost, non_blocking);
    return;
  }
  Tensor source = src;
  if (!src.is_contiguous() || src.scalar_type() != dst.scalar_type()) {
    source = empty_contiguous(src.sizes(), dst.scalar_type(), src.device());
    cuda::copy_on_device(source, src);
  }
  const bool direct = is_one_block(dst, source);
  const Tensor host = direct ? dst : empty_contiguous(source.sizes(), source.scalar_type(), c10::kCPU);
  transfer(
      host.mutable_data_ptr(), source.const_data_ptr(), host, source.nbytes(), cudaMemcpyDeviceToHost,
      non_blocking && direct);
  if (!direct) {
    dst.copy_(host);
  }
}

/// From one device to another: both streams wait for each other, so that the copy stands in the order of both.
void copy_between_devices(const Tensor& dst, const Tensor& src) {
  Tensor source = src;
  if (!is_one_block(dst, src) && (!src.is_contiguous() || src.scalar_type() != dst.scalar_type())) {
    const c10::cuda::CUDAGuard guard(src.device());
    source = empty_contiguous(src.sizes(), dst.scalar_type(), src.device());
    cuda::copy_on_device(source, src);
  }
  const c10::cuda::CUDAGuard guard(dst.device());
  const bool direct = is_one_block(dst, source);
  const Tensor target = direct ? dst : empty_contiguous(source.sizes(), source.scalar_type(), dst.device());
  const auto from = src.device().index(), to = dst.device().index();
  const c10::cuda::CUDAStream from_stream = c10::cuda::getCurrentCUDAStream(from);
  const c10::cuda::CUDAStream to_stream = c10::cuda::getCurrentCUDAStream(to);
  const bool peer = c10::cuda::get_p2p_access(from, to);
  c10::cuda::CUDAEvent ready(cudaEventDisableTiming);
  ready.record(to_stream);
  {
    const c10::cuda::CUDAGuard on_source(src.device());
    ready.block(from_stream);
    C10_CUDA_CHECK(c10::cuda::CUDACachingAllocator::memcpyAsync(
        target.mutable_data_ptr(), to, source.const_data_ptr(), from, source.nbytes(), from_stream, peer));
    c10::cuda::CUDAEvent done(cudaEventDisableTiming);
    done.record(from_stream);
    done.block(to_stream);
  }
  if (!direct) {
    cuda::copy_on_device(dst, target.expand(dst.sizes()));
  }
}

} // namespace

namespace cuda {

void copy_on_device(const TensorBase& dst, const TensorBase& src) {
  if (dst.scalar_type() == src.scalar_type() && dst.sizes() == src.sizes() && dst.strides() == src.strides() &&
      dst.is_non_overlapping_and_dense()) {
    if (dst.const_data_ptr() != src.const_data_ptr()) {
      C10_CUDA_CHECK(cudaMemcpyAsync(
          dst.mutable_data_ptr(), src.const_data_ptr(), src.nbytes(), cudaMemcpyDeviceToDevice,
          c10::cuda::getCurrentCUDAStream()));
    }
    return;
  }
  auto iter = TensorIteratorConfig()
                  .set_check_mem_overlap(false)
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(dst)
                  .add_const_input(src)
                  .build();
  const c10::ScalarType to = dst.scalar_type(), from = src.scalar_type();
  run_pointwise(iter, [&](const PointwisePlan& plan) {
    if (to == from) {
      launch_move(plan, c10::elementSize(to));
    } else {
      launch_convert(plan, to, from);
    }
  });
}

} // namespace cuda

Tensor _copy_from_cuda(const Tensor& self, const Tensor& dst, bool non_blocking) {
  Tensor target = dst;
  if (self.is_cpu()) {
    copy_to_device(dst, self, non_blocking);
  } else if (dst.is_cpu()) {
    copy_to_host(target, self.expand(dst.sizes()), non_blocking);
  } else if (self.device() == dst.device()) {
    const c10::cuda::CUDAGuard guard(dst.device());
    const Tensor source = self.expand(dst.sizes());
    // Reading what was already written would be wrong: go through a copy of the source.
    const bool overlaps = at::get_overlap_status(dst, source) == at::MemOverlapStatus::Partial;
    cuda::copy_on_device(dst, overlaps ? source.clone() : source);
  } else {
    copy_between_devices(dst, self.expand(dst.sizes()));
  }
  return dst;
}

Scalar _local_scalar_dense_cuda(const Tensor& self) {
  TORCH_CHECK(
      self.numel() > 0, "a Tensor with 0 elements cannot be converted to Scalar (in _local_scalar_dense, of shape ",
      self.sizes(), ")");
  c10::cuda::assert_not_capturing("Reading a value by item()");
  const Tensor host = empty_contiguous({}, self.scalar_type(), c10::kCPU);
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  C10_CUDA_CHECK(
      cudaMemcpyAsync(host.mutable_data_ptr(), self.const_data_ptr(), self.itemsize(), cudaMemcpyDeviceToHost, stream));
  stream.synchronize();
  return at::_local_scalar_dense(host);
}

namespace {

/// Dense memory that begins at a multiple of 16 bytes is filled by one launch. False: nothing has happened.
bool fill_at_once(const Tensor& self, const Tensor& element) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 27; // byte offsets of the largest elements stay below 2^31
  char* const data = static_cast<char*>(self.mutable_data_ptr());
  if (!self.is_non_overlapping_and_dense() || self.numel() > kMostElements ||
      reinterpret_cast<std::uintptr_t>(data) % 16 != 0) {
    return false;
  }
  cuda::PointwisePlan plan;
  plan.dtype = self.scalar_type();
  plan.operands = 2;
  plan.constants = 1u << 1;
  plan.repeated = 0;
  plan.dense = true;
  plan.dims = 1;
  plan.numel = plan.sizes[0] = self.numel();
  plan.strides[0][0] = static_cast<std::int64_t>(self.itemsize());
  plan.strides[0][1] = 0;
  plan.data[0] = data;
  plan.data[1] = static_cast<char*>(const_cast<void*>(element.const_data_ptr()));
  std::memcpy(plan.constant[1].value, plan.data[1], self.itemsize());
  plan.constant[1].wide = 0;
  plan.stream = c10::cuda::getCurrentCUDAStream();
  cuda::launch_move(plan, self.itemsize());
  return true;
}

} // namespace

// Elements of one index get one value: overlap does no harm.
Tensor& fill_cuda_(Tensor& self, const Scalar& value) {
  if (self.numel() == 0) {
    return self;
  }
  // The value in self's dtype, converted with the overflow checks of Scalar::to.
  const Tensor element = at::scalar_tensor(value, self.options().device(c10::kCPU).pinned_memory(false));
  if (fill_at_once(self, element)) {
    return self;
  }
  auto iter = TensorIteratorConfig()
                  .set_check_mem_overlap(false)
                  .check_all_same_device(false)
                  .resize_outputs(false)
                  .add_output(self)
                  .add_const_input(element)
                  .build();
  cuda::run_pointwise(
      iter, [&](const cuda::PointwisePlan& plan) { cuda::launch_move(plan, c10::elementSize(self.scalar_type())); });
  return self;
}

Tensor& zero_cuda_(Tensor& self) {
  if (!self.is_non_overlapping_and_dense()) {
    return fill_cuda_(self, 0);
  }
  if (self.numel() != 0) {
    C10_CUDA_CHECK(cudaMemsetAsync(self.mutable_data_ptr(), 0, self.nbytes(), c10::cuda::getCurrentCUDAStream()));
  }
  return self;
}

} // namespace at::native
