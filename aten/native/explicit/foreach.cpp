#include <aten/native/explicit/foreach.h>

#include <aten/core/dtype_dispatch.h>
#include <aten/ops/copy__ops.h>
#include <aten/ops/empty_like_ops.h>
#include <aten/ops/empty_ops.h>
#include <aten/ops/linalg_vector_norm_ops.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <limits>
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

/// The keys of a dense CUDA tensor that no mode and no wrapper wants to hear of.
constexpr c10::DispatchKeySet plain_cuda_keys = c10::DispatchKeySet(c10::DispatchKey::CUDA) |
    c10::getAutogradRelatedKeySetFromBackend(c10::BackendComponent::CUDABit) |
    c10::getAutocastRelatedKeySetFromBackend(c10::BackendComponent::CUDABit);

/// Whether `t` has the dtype and the device of `lead` and gradients do not matter.
bool is_plain_cuda(const Tensor& t, const Tensor& lead, bool recording) {
  return t.defined() && t.key_set() == plain_cuda_keys && t.scalar_type() == lead.scalar_type() &&
      t.device() == lead.device() && !(recording && t.requires_grad());
}

/// Fills a part for tensor i of the lists; false if they do not lie alike.
bool describe(
    ForeachPart& part, std::initializer_list<TensorList> lists, size_t i, const Tensor& lead, bool recording) {
  const Tensor& self = (*lists.begin())[i];
  if (!is_plain_cuda(self, lead, recording) || !self.is_non_overlapping_and_dense()) {
    return false;
  }
  const bool by_rows = self.is_contiguous();
  part.numel = self.numel();
  int k = 0;
  for (const TensorList list : lists) {
    const Tensor& t = list[i];
    if (k > 0 &&
        (!is_plain_cuda(t, lead, recording) || t.sizes() != self.sizes() ||
         (by_rows ? !t.is_contiguous() : t.strides() != self.strides()))) {
      return false;
    }
    part.in[k++] = t.const_data_ptr();
  }
  return true;
}

/// Of two tensors that share memory, but are not the same, one may be written before the other is read.
bool share_memory_partly(const ForeachPart& part, std::initializer_list<TensorList> lists, size_t i) {
  const Tensor& self = (*lists.begin())[i];
  int k = 0;
  for (const TensorList list : lists) {
    if (part.in[k++] != part.out && list[i].is_alias_of(self)) {
      return true;
    }
  }
  return false;
}

DeviceForeach on_cuda;

/// Whether lists that begin with `lead` may go to the device at once.
bool can_use_multi_tensor(const Tensor& lead) {
  return on_cuda.function != nullptr && lead.defined() && lead.is_cuda() && kFloating.contains(lead.scalar_type()) &&
      c10::impl::is_default(c10::impl::raw_local_dispatch_key_set);
}

} // namespace

DeviceForeach& cuda_foreach() {
  return on_cuda;
}

bool multi_tensor_foreach(
    ForeachFunction function,
    std::initializer_list<TensorList> lists,
    const ForeachNumbers& numbers,
    std::vector<Tensor>* results) {
  const TensorList self = *lists.begin();
  const Tensor& lead = self[0];
  if (!can_use_multi_tensor(lead)) {
    return false;
  }
  const bool recording = c10::GradMode::is_enabled();
  if (numbers.tensor != nullptr && (numbers.tensor->dim() != 0 || !is_plain_cuda(*numbers.tensor, lead, recording))) {
    return false;
  }
  std::vector<ForeachPart> parts(self.size());
  for (size_t i = 0; i < self.size(); ++i) {
    ForeachPart& part = parts[i];
    part = {};
    if (!describe(part, lists, i, lead, recording)) {
      return false;
    }
    if (results == nullptr) {
      part.out = self[i].mutable_data_ptr();
      part.in[0] = part.out;
      if (share_memory_partly(part, lists, i)) {
        return false;
      }
    }
    if (numbers.tensor != nullptr) {
      if (numbers.tensor->is_alias_of(self[i])) {
        return false;
      }
      part.in[lists.size()] = numbers.tensor->const_data_ptr();
    }
    if (!numbers.list.empty()) {
      const Scalar& number = numbers.list[numbers.list.size() == 1 ? 0 : i];
      if (number.isComplex()) {
        return false;
      }
      part.number = number.toDouble();
    }
  }
  for (size_t i = 0; i < self.size(); ++i) {
    if (results != nullptr) {
      results->push_back(at::_ops::empty_like::call(self[i], {}, {}, {}, {}, {}));
      parts[i].out = results->back().mutable_data_ptr();
    } else {
      self[i].unsafeGetTensorImpl()->bump_version();
    }
  }
  on_cuda.function(function, lead, parts);
  return true;
}

std::vector<Tensor> foreach_norm(TensorList self, const Scalar& ord, std::optional<ScalarType> dtype) {
  const size_t count = foreach_count({self.size()}, {});
  std::vector<Tensor> results;
  results.reserve(count);
  std::vector<ForeachPart> parts(count);
  const double order = ord.isComplex() ? 0 : ord.toDouble();
  const bool recording = c10::GradMode::is_enabled();
  bool at_once = (order == 1 || order == 2 || order == std::numeric_limits<double>::infinity()) &&
      can_use_multi_tensor(self[0]) && dtype.value_or(self[0].scalar_type()) == self[0].scalar_type();
  for (size_t i = 0; i < count && at_once; ++i) {
    // The largest of no elements is an error, which the operator of one tensor reports.
    at_once = describe(parts[i], {self}, i, self[0], recording) && parts[i].numel > 0;
  }
  for (size_t i = 0; i < count; ++i) {
    if (at_once) {
      results.push_back(at::_ops::empty_memory_format::call(
          {}, self[0].scalar_type(), kStrided, self[0].device(), std::nullopt, std::nullopt));
      parts[i].out = results[i].mutable_data_ptr();
    } else {
      results.push_back(at::_ops::linalg_vector_norm::call(self[i], ord, std::nullopt, false, dtype));
    }
  }
  if (at_once) {
    on_cuda.norm(order == 1 ? ForeachNorm::One : order == 2 ? ForeachNorm::Two : ForeachNorm::Infinity, self[0], parts);
  }
  return results;
}

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
