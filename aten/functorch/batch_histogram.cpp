// Operators that look values up in sorted ones.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/library/library.h>
#include <aten/ops/bucketize.h>
#include <aten/ops/searchsorted.h>

#include <optional>
#include <string_view>

namespace at::functorch {

namespace {

Tensor searchsorted(
    const Tensor& sorted_sequence,
    const Tensor& self,
    bool out_int32,
    bool right,
    std::optional<std::string_view> side,
    const std::optional<Tensor>& sorter) {
  const Tensor order = sorter.value_or(Tensor());
  const VmapLevelPtr level = level_of({sorted_sequence, self, order}, "searchsorted");
  const int64_t batch = level->batch_size;
  const BatchedValue sequence = value_at(sorted_sequence, *level), values = value_at(self, *level);
  const BatchedValue by = order.defined() ? value_at(order, *level) : BatchedValue{};
  const bool is_shared = !sequence.is_batched() && !by.is_batched() && sorted_sequence.dim() == 1;
  if (is_shared) { // one sequence for values of any sizes
    return makeBatched(
        at::searchsorted(sequence.value, values.batch_first(), out_int32, right, side, sorter), 0, level);
  }
  const std::optional<Tensor> orders =
      order.defined() ? std::optional<Tensor>(by.with_batch(batch).contiguous()) : std::nullopt;
  const Tensor all = values.with_batch(batch);
  // Otherwise all dimensions but the last one agree; values for one sequence get them joined.
  const Tensor rows = sorted_sequence.dim() == 1 ? all.reshape({batch, self.numel()}) : all;
  const Tensor found =
      at::searchsorted(sequence.with_batch(batch).contiguous(), rows.contiguous(), out_int32, right, side, orders);
  return makeBatched(found.reshape(all.sizes()), 0, level);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  return functorch::searchsorted(boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}

constexpr c10::impl::BuiltinKernelRow kHistogramRules[] = {
    rule_for<&searchsorted>("aten::searchsorted", "Tensor"),
    rule_for<&bucketize>("aten::bucketize", "Tensor"),
};
const c10::impl::BuiltinKernels kHistogramRulesRegistered(kHistogramRules);

} // namespace

} // namespace at::functorch
