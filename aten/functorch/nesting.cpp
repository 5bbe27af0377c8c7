#include <aten/functorch/nesting.h>

#include <aten/core/Tensor.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <aten/functorch/batch_call.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/Exception.h>

#include <memory>
#include <vector>

namespace at::functorch {

namespace {

std::vector<std::unique_ptr<VmapGuard>>& entered() {
  static thread_local std::vector<std::unique_ptr<VmapGuard>> guards;
  return guards;
}

} // namespace

int64_t _vmap_increment_nesting(int64_t batch_size, std::string_view randomness) {
  entered().push_back(std::make_unique<VmapGuard>(batch_size, parse_randomness(randomness)));
  return entered().back()->level()->number;
}

int64_t _vmap_decrement_nesting() {
  TORCH_CHECK(
      !entered().empty(), "_vmap_decrement_nesting: this thread has entered no vmap by _vmap_increment_nesting");
  const int64_t level = entered().back()->level()->number;
  TORCH_CHECK(
      level == vmap_depth(), "_vmap_decrement_nesting: level ", level, " is not the innermost vmap, which is ",
      vmap_depth(), "; leave that first");
  entered().pop_back();
  return level;
}

Tensor _add_batch_dim(const Tensor& self, int64_t batch_dim, int64_t level) {
  return addBatchDim(self, batch_dim, level);
}

Tensor _remove_batch_dim(const Tensor& self, int64_t level, int64_t batch_size, int64_t out_dim) {
  const auto [value, bdim] = unwrapTensorAtLevel(self, level);
  const int64_t place = c10::maybe_wrap_dim(out_dim, self.dim() + 1);
  return bdim ? value.movedim(*bdim, place) : BatchedValue{value, bdim}.with_batch(batch_size).movedim(0, place);
}

int64_t maybe_get_level(const Tensor& self) {
  const BatchedTensorImpl* const batched = maybeGetBatchedImpl(self);
  return batched == nullptr ? -1 : batched->level();
}

int64_t maybe_get_bdim(const Tensor& self) {
  const BatchedTensorImpl* const batched = maybeGetBatchedImpl(self);
  return batched == nullptr ? -1 : batched->bdim();
}

Tensor get_unwrapped(const Tensor& self) {
  const BatchedTensorImpl* const batched = maybeGetBatchedImpl(self);
  TORCH_CHECK(batched != nullptr, "get_unwrapped: got a tensor that is not batched");
  return batched->value();
}

} // namespace at::functorch
