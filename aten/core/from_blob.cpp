#include <aten/core/from_blob.h>

#include <c10/core/Allocator.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/safe_numerics.h>

#include <vector>

namespace at {
namespace {

/// Bytes from the start of the storage to the end of the last element.
int64_t bytes_needed(IntArrayRef sizes, OptionalIntArrayRef strides, int64_t offset, size_t itemsize) {
  int64_t elements = 1;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TORCH_CHECK(sizes[i] >= 0, "from_blob: negative dimension ", sizes[i], " in sizes ", sizes);
    if (sizes[i] == 0) {
      return 0;
    }
    if (strides) {
      TORCH_CHECK((*strides)[i] >= 0, "from_blob: negative stride ", (*strides)[i], " in strides ", *strides);
      int64_t step = 0;
      overflow |= c10::mul_overflows(sizes[i] - 1, (*strides)[i], &step);
      overflow |= c10::add_overflows(elements, step, &elements);
    } else {
      overflow |= c10::mul_overflows(elements, sizes[i], &elements);
    }
  }
  overflow |= c10::add_overflows(elements, offset, &elements);
  overflow |= c10::mul_overflows(elements, static_cast<int64_t>(itemsize), &elements);
  TORCH_CHECK(!overflow, "Storage size calculation overflowed with sizes=", sizes, " (in from_blob)");
  return elements;
}

} // namespace

Tensor TensorMaker::make_tensor() {
  const c10::ScalarType dtype = c10::typeMetaToScalarType(options_.dtype());
  const c10::Device device = device_.value_or(options_.device());
  const int64_t offset = storage_offset_.value_or(0);
  TORCH_CHECK(
      !strides_ || strides_->size() == sizes_.size(), "from_blob: ", sizes_.size(), " sizes but ",
      strides_ ? strides_->size() : 0, " strides");
  TORCH_CHECK(offset >= 0, "from_blob: negative storage offset ", offset);
  const int64_t bytes = bytes_needed(sizes_, strides_, offset, c10::elementSize(dtype));
  TORCH_CHECK(!(deleter_ && context_), "The deleter and context arguments are mutually exclusive.");
  c10::DataPtr data = deleter_ ? c10::InefficientStdFunctionContext::makeDataPtr(data_, std::move(deleter_), device)
      : context_               ? c10::DataPtr(data_, context_.get_context(), context_.get_deleter(), device)
                               : c10::DataPtr(data_, device);
  if (context_) {
    context_.release_context();
  }
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, std::move(data), allocator_, resizeable_);
  const bool plain = device.is_cpu() && options_.layout() == c10::kStrided && !c10::isQIntType(dtype);
  const c10::DispatchKey key = plain ? c10::DispatchKey::CPU : options_.device(device).computeDispatchKey();
  Tensor result = detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), options_.dtype());
  c10::TensorImpl* impl = result.unsafeGetTensorImpl();
  if (strides_) {
    impl->set_sizes_and_strides(sizes_, *strides_);
  } else {
    impl->set_sizes_contiguous(sizes_);
  }
  impl->set_storage_offset(offset);
  if (options_.requires_grad()) {
    result.set_requires_grad(true);
  }
  return result;
}

Tensor from_blob(
    void* data,
    IntArrayRef sizes,
    IntArrayRef strides,
    const std::function<void(void*)>& deleter,
    const c10::TensorOptions& options,
    std::optional<c10::Device> target_device) {
  return for_blob(data, sizes)
      .strides(strides)
      .deleter(deleter)
      .options(options)
      .target_device(target_device)
      .make_tensor();
}
Tensor from_blob(
    void* data,
    IntArrayRef sizes,
    IntArrayRef strides,
    int64_t storage_offset,
    const std::function<void(void*)>& deleter,
    const c10::TensorOptions& options,
    std::optional<c10::Device> target_device) {
  return for_blob(data, sizes)
      .strides(strides)
      .storage_offset(storage_offset)
      .deleter(deleter)
      .options(options)
      .target_device(target_device)
      .make_tensor();
}
Tensor from_blob(
    void* data,
    IntArrayRef sizes,
    std::function<void(void*)> deleter,
    const c10::TensorOptions& options,
    std::optional<c10::Device> target_device) {
  return for_blob(data, sizes).deleter(std::move(deleter)).options(options).target_device(target_device).make_tensor();
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const c10::TensorOptions& options) {
  return for_blob(data, sizes).strides(strides).options(options).make_tensor();
}
Tensor from_blob(void* data, IntArrayRef sizes, const c10::TensorOptions& options) {
  return for_blob(data, sizes).options(options).make_tensor();
}

} // namespace at
