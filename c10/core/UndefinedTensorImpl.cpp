#include <c10/core/UndefinedTensorImpl.h>

namespace c10 {

UndefinedTensorImpl::UndefinedTensorImpl() : TensorImpl(DispatchKey::Undefined, caffe2::TypeMeta(), std::nullopt) {
  set_storage_access_should_throw();
  set_custom_sizes_strides(SizesStridesPolicy::CustomStrides);
}

bool UndefinedTensorImpl::is_contiguous_custom(MemoryFormat memory_format) const {
  return is_contiguous_default(memory_format);
}

IntArrayRef UndefinedTensorImpl::strides_custom() const {
  TORCH_CHECK(false, "strides() called on an undefined Tensor");
}

SymIntArrayRef UndefinedTensorImpl::sym_strides_custom() const {
  TORCH_CHECK(false, "strides() called on an undefined Tensor");
}

void UndefinedTensorImpl::set_size(int64_t, int64_t) {
  TORCH_CHECK(false, "set_size() called on an undefined Tensor");
}

void UndefinedTensorImpl::set_stride(int64_t, int64_t) {
  TORCH_CHECK(false, "set_stride() called on an undefined Tensor");
}

void UndefinedTensorImpl::set_storage_offset(int64_t) {
  TORCH_CHECK(false, "set_storage_offset() called on an undefined Tensor");
}

const char* UndefinedTensorImpl::tensorimpl_type_name() const {
  return "UndefinedTensorImpl";
}

// Static objects of other files hold undefined tensors: the object is made before them and never destroyed.
union UndefinedTensorImplHolder {
  UndefinedTensorImpl value;
  UndefinedTensorImplHolder() : value() {}
  ~UndefinedTensorImplHolder() {}
};

static UndefinedTensorImplHolder holder __attribute__((init_priority(101)));

constinit TensorImpl* const UndefinedTensorImpl::singleton_ = &holder.value;

} // namespace c10
