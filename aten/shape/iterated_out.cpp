#include <aten/shape/iterated_out.h>

#include <aten/iterator/MemoryOverlap.h>
#include <c10/util/Exception.h>

namespace at::shape {

void check_iterated(const Operands& operands) {
  const TensorBase& out = *operands.back();
  if (!out.defined()) {
    return;
  }
  at::assert_no_internal_overlap(out);
  for (size_t i = 0; i + 1 < operands.size(); ++i) {
    if (operands[i]->defined()) {
      at::assert_no_partial_overlap(out, *operands[i]);
    }
  }
}

void check_found_dtype(const Operands& operands) {
  const TensorBase &input = *operands.front(), &out = *operands.back();
  TORCH_CHECK(
      !out.defined() || out.scalar_type() == input.scalar_type(), "Found dtype ", out.scalar_type(), " but expected ",
      input.scalar_type());
}

} // namespace at::shape
