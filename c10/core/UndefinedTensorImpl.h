#pragma once

#include <c10/core/TensorImpl.h>
#include <c10/macros/Export.h>

namespace c10 {

/// What an undefined tensor points to: one object, never counted or freed. Most calls on it throw.
struct C10_API UndefinedTensorImpl final : public TensorImpl {
 public:
  static TensorImpl* singleton() noexcept {
    return singleton_;
  }

  void set_size(int64_t dim, int64_t new_size) override;
  void set_stride(int64_t dim, int64_t new_stride) override;
  void set_storage_offset(int64_t storage_offset) override;
  const char* tensorimpl_type_name() const override;

 protected:
  bool is_contiguous_custom(MemoryFormat memory_format) const override;
  IntArrayRef strides_custom() const override;
  SymIntArrayRef sym_strides_custom() const override;

 private:
  UndefinedTensorImpl();
  friend union UndefinedTensorImplHolder;

  // A pointer, not the object: a program may get its own copy of exported data, which does no harm to a constant.
  static TensorImpl* const singleton_;
};

} // namespace c10
