// Operands of other dtypes than a program's function takes.
#include <aten/Functions.h>
#include <aten/core/from_blob.h>
#include <c10/util/SmallVector.h>
#include <csrc/compat/aten/native/cuda/loop_dtypes.h>

namespace at::native::gpu_loop {

namespace {

/// An operand as the iterator sees it, whatever the iterator was cut to.
Tensor operand_view(const TensorIteratorBase& iter, int arg) {
  SmallVector<int64_t, 8> strides;
  for (const int64_t bytes : iter.strides(arg)) {
    strides.push_back(bytes / iter.element_size(arg));
  }
  return at::from_blob(
      iter.data_ptr(arg), iter.shape(), strides, TensorOptions().dtype(iter.dtype(arg)).device(iter.device(arg)));
}

} // namespace

void with_dtypes(
    TensorIteratorBase& iter,
    c10::ArrayRef<c10::ScalarType> dtypes,
    c10::function_ref<void(TensorIteratorBase&)> loop) {
  bool same = iter.numel() == 0;
  for (int i = 0; !same && i < iter.ntensors() && iter.dtype(i) == dtypes[static_cast<std::size_t>(i)]; ++i) {
    same = i + 1 == iter.ntensors();
  }
  if (same) {
    loop(iter);
    return;
  }
  TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false).resize_outputs(false);
  SmallVector<Tensor, 4> given, converted;
  for (int i = 0; i < iter.ntensors(); ++i) {
    const c10::ScalarType dtype = dtypes[static_cast<std::size_t>(i)];
    given.push_back(operand_view(iter, i));
    const Tensor& view = given.back();
    converted.push_back(
        view.scalar_type() == dtype ? view
            : i < iter.noutputs()   ? at::empty_like(view, view.options().dtype(dtype))
                                    : view.to(dtype));
  }
  for (int i = 0; i < iter.ntensors(); ++i) {
    if (i < iter.noutputs()) {
      config.add_output(converted[static_cast<std::size_t>(i)]);
    } else {
      config.add_input(converted[static_cast<std::size_t>(i)]);
    }
  }
  TensorIterator same_dtypes = config.build();
  loop(same_dtypes);
  for (int i = 0; i < iter.noutputs(); ++i) {
    if (const auto k = static_cast<std::size_t>(i); given[k].scalar_type() != dtypes[k]) {
      given[k].copy_(converted[k]);
    }
  }
}

} // namespace at::native::gpu_loop
