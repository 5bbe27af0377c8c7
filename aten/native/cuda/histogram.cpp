// searchsorted, bucketize, histograms. Arguments are checked by aten/shape/sort.cpp.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/histogram.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/native/support/optional_tensor.h>
#include <c10/core/Scalar.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace at::native {

namespace cuda {

namespace {

TensorBase dense_as(const TensorBase& t, c10::ScalarType dtype) {
  return t.to(c10::TensorOptions().dtype(dtype)).contiguous();
}

void search_sorted(
    const TensorBase& edges,
    const TensorBase& values,
    const std::optional<Tensor>& order,
    bool right,
    const TensorBase& out) {
  if (values.numel() == 0) {
    return;
  }
  const c10::ScalarType common = result_type(update_result_type_state(values, update_result_type_state(edges, {})));
  constexpr auto kDtypes = kIntegral | kFloating;
  if (!kDtypes.contains(common)) {
    at::detail::dtype_not_supported("searchsorted_out_cuda", common, kDtypes.bits);
  }
  const TensorBase edge = dense_as(edges, common), value = dense_as(values, common);
  const TensorBase sorter = given(order) ? dense_as(*order, kLong) : TensorBase();
  const TensorBase places =
      out.is_contiguous() ? out : static_cast<const TensorBase&>(at::empty(out.sizes(), Tensor(out).options()));
  Search p;
  p.count = values.numel();
  p.row = edges.dim() == 0 ? 1 : edges.sizes().back();
  p.per_row = edges.dim() <= 1 ? 0 : values.dim() == 0 ? 1 : values.sizes().back();
  p.dtype = common;
  p.right = right;
  p.narrow_places = out.scalar_type() == kInt;
  p.edges = edge.const_data_ptr();
  p.values = value.const_data_ptr();
  p.order = sorter.defined() ? sorter.const_data_ptr<int64_t>() : nullptr;
  p.places = places.mutable_data_ptr();
  p.check = {index_error_slot(), "searchsorted", "sorter", p.row};
  p.stream = c10::cuda::getCurrentCUDAStream();
  launch_search(p);
  if (!places.is_same(out)) {
    copy_on_device(out, places);
  }
}

} // namespace

void searchsorted_kernel(
    const TensorBase& sorted_sequence,
    const TensorBase& self,
    bool,
    bool right,
    std::optional<std::string_view> side,
    const std::optional<Tensor>& sorter,
    const TensorBase& out) {
  search_sorted(sorted_sequence, self, sorter, side.has_value() ? *side == "right" : right, out);
}

void bucketize_kernel(const TensorBase& self, const TensorBase& boundaries, bool, bool right, const TensorBase& out) {
  search_sorted(boundaries, self, std::nullopt, right, out);
}

void histc_kernel(const TensorBase& self, int64_t bins, const Scalar& min, const Scalar& max, const TensorBase& out) {
  // Half and bfloat16 are counted in float: they would stop counting at 2048 and 256.
  const c10::ScalarType dtype = self.scalar_type() == kDouble ? kDouble : kFloat;
  const TensorBase x = self.scalar_type() == dtype ? self.contiguous() : dense_as(self, dtype);
  const auto rounded = [&](double value) {
    return dtype == kFloat ? static_cast<double>(static_cast<float>(value)) : value;
  };
  double low = rounded(min.toDouble()), high = rounded(max.toDouble());
  if (low == high && x.numel() > 0) {
    const auto [least, most] = at::aminmax(Tensor(x));
    low = least.item<double>();
    high = most.item<double>();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  TORCH_CHECK(std::isfinite(low) && std::isfinite(high), "torch.histc: range of [", low, ", ", high, "] is not finite");
  TORCH_CHECK(low < high, "torch.histc: max must be larger than min; got min ", low, " and max ", high);
  const Tensor counts = out.scalar_type() == dtype ? Tensor(out) : at::empty({bins}, Tensor(x).options());
  counts.zero_();
  if (x.numel() != 0) {
    launch_histogram(
        {x.numel(), bins, dtype, x.const_data_ptr(), counts.mutable_data_ptr(), low, high, rounded(high - low),
         c10::cuda::getCurrentCUDAStream()});
  }
  if (!out.is_same(counts)) {
    copy_on_device(out, counts);
  }
}

} // namespace cuda

Tensor bincount_cuda(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0; got ", minlength);
  const bool weighted = given(weights);
  const auto longs = self.options().dtype(kLong);
  if (self.dim() == 1 && self.numel() == 0) {
    return at::zeros({minlength}, longs);
  }
  const char* const says = "bincount only supports 1-d non-negative integral inputs.";
  TORCH_CHECK(
      self.dim() == 1 && c10::isIntegralType(self.scalar_type(), /*includeBool=*/false), says, " Got ", self.dim(),
      " dimensions of ", c10::toString(self.scalar_type()));
  TORCH_CHECK(
      !weighted || (weights->dim() == 1 && weights->numel() == self.numel()),
      "weights should be 1-d and have the same length as input; got ", weighted ? weights->sizes() : IntArrayRef(),
      " for an input of length ", self.numel());
  const Tensor bins = self.to(kLong);
  const auto [least, most] = at::aminmax(bins); // waits for the device: the result's size depends on them
  TORCH_CHECK(least.item<int64_t>() >= 0, says, " The least value is ", least.item<int64_t>());
  const int64_t length = std::max(most.item<int64_t>() + 1, minlength);
  if (!weighted) {
    return at::zeros({length}, longs).scatter_add_(0, bins, at::ones({}, longs).expand_as(bins));
  }
  const Tensor w = weights->scalar_type() == kFloat ? *weights : weights->to(kDouble);
  return at::zeros({length}, w.options()).scatter_add_(0, bins, w);
}

} // namespace at::native
