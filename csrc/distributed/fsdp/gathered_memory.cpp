// Memory whose content comes and goes.
//
// On the CPU it is a mapping of its own, whose pages go back to the system: the addresses stay. Elsewhere the storage
// stays, and its memory goes back to the allocator.
#include <csrc/distributed/fsdp/gathered_memory.h>

#include <aten/Functions.h>
#include <aten/core/from_blob.h>
#include <c10/util/Exception.h>

#include <sys/mman.h>

#include <algorithm>

namespace torch::distributed::fsdp {

GatheredMemory::GatheredMemory(int64_t numel, const at::TensorOptions& options)
    : bytes_(static_cast<size_t>(numel) * options.dtype().itemsize()) {
  if (!options.device().is_cpu()) {
    tensor_ = at::empty({numel}, options);
    release();
    return;
  }
  const size_t mapped = std::max<size_t>(bytes_, 1);
  void* memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  TORCH_CHECK_WITH(OutOfMemoryError, memory != MAP_FAILED, "fully_shard: no room for parameters of ", bytes_, " bytes");
  tensor_ = at::from_blob(
      memory, {numel}, [mapped](void* begin) { ::munmap(begin, mapped); }, options);
}

at::Tensor GatheredMemory::view() const {
  auto view = at::empty({0}, tensor_.options());
  view.set_(tensor_.storage(), 0, tensor_.sizes(), tensor_.strides());
  return view;
}

void GatheredMemory::acquire() {
  const auto& storage = tensor_.storage();
  if (!tensor_.is_cpu() && storage.nbytes() != bytes_) {
    storage.set_data_ptr_noswap(storage.allocator()->allocate(bytes_));
    storage.set_nbytes(bytes_);
  }
}

void GatheredMemory::release() {
  const auto& storage = tensor_.storage();
  if (tensor_.is_cpu()) {
    if (bytes_ > 0) {
      ::madvise(storage.mutable_data(), bytes_, MADV_DONTNEED);
    }
  } else {
    storage.set_data_ptr_noswap(at::DataPtr(nullptr, tensor_.device()));
    storage.set_nbytes(size_t(0));
  }
}

} // namespace torch::distributed::fsdp
