#include <aten/native/support/result_layout.h>

#include <aten/native/support/convert.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/strides.h>

namespace at::native {

namespace {

// Changes strides that say nothing: the elements stay where they are. With others nothing happens.
void restride(const TensorBase& result, IntArrayRef strides) {
  const IntArrayRef sizes = result.sizes(), own = result.strides();
  for (size_t d = 0; d < own.size(); ++d) {
    if (own[d] != strides[d] && sizes[d] > 1 && result.numel() != 0) {
      return;
    }
  }
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
}

} // namespace

void preserve_strides_of_self(const TensorBase& result, const TensorBase& self) {
  if (self.is_contiguous()) {
    restride(result, c10::contiguous_strides(self.sizes()));
  } else if (self.is_contiguous(c10::MemoryFormat::ChannelsLast)) {
    restride(result, c10::get_channels_last_strides_2d(self.sizes()));
  } else if (self.is_non_overlapping_and_dense()) {
    restride(result, self.strides());
  }
}

void like_self(const TensorBase& result, const TensorBase& self) {
  if (!result.strides().equals(self.strides())) {
    restride(result, dense_strides_like(self.sizes(), self.strides(), self.is_non_overlapping_and_dense()));
  }
}

void like_complex_self(const TensorBase& result, const TensorBase& self) {
  if (self.is_complex()) {
    like_self(result, self);
  }
}

void like_integral_self(const TensorBase& result, const TensorBase& self) {
  if (c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
    like_self(result, self);
  }
}

} // namespace at::native
