#include <aten/native/foreach.h>

#include <aten/ops/copy__ops.h>
#include <c10/core/GradMode.h>

#include <vector>

namespace at::native {
namespace {

/// Whether all elements are alike, so that what one refuses the first did: then nothing has been changed before.
bool are_alike(
    TensorList self, std::initializer_list<TensorList> others, std::initializer_list<ArrayRef<Scalar>> numbers) {
  const auto fits = [](const Tensor& t, const Tensor& lead) {
    return t.defined() && t.scalar_type() == lead.scalar_type() && t.key_set() == lead.key_set() &&
        t.requires_grad() == lead.requires_grad();
  };
  for (const Tensor& t : self) {
    if (!fits(t, self[0]) || !t.is_non_overlapping_and_dense()) {
      return false;
    }
  }
  for (const TensorList list : others) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (!fits(list[i], list[0]) || list[i].sizes() != self[i].sizes()) {
        return false;
      }
    }
  }
  for (const ArrayRef<Scalar> list : numbers) {
    for (const Scalar& number : list) {
      if (number.type() != list[0].type()) {
        return false;
      }
    }
  }
  return true;
}

/// What an operator in place writes to: of a sparse tensor the values.
Tensor elements(const Tensor& t) {
  TORCH_CHECK(t.defined(), "expected lists of tensors without undefined ones");
  return t.layout() == kStrided ? t : t.layout() == kSparse ? t._values() : t.values();
}

} // namespace

void foreach_in_place(
    TensorList self,
    std::initializer_list<TensorList> others,
    std::initializer_list<ArrayRef<Scalar>> numbers,
    c10::function_ref<void(size_t)> run) {
  if (are_alike(self, others, numbers)) {
    for (size_t i = 0; i < self.size(); ++i) {
      run(i);
    }
    return;
  }
  std::vector<Tensor> before;
  before.reserve(self.size());
  size_t done = 0;
  try {
    for (; done < self.size(); ++done) {
      before.push_back(elements(self[done]).detach().clone());
      run(done);
    }
  } catch (...) {
    const c10::NoGradGuard no_grad;
    // Backwards, since one tensor may be there twice.
    while (done-- > 0) {
      Tensor changed = elements(self[done]).detach();
      at::_ops::copy_::call(changed, before[done], false);
    }
    throw;
  }
}

} // namespace at::native
