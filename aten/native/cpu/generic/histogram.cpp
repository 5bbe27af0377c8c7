// bincount, histc, searchsorted, bucketize.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/parallel/Parallel.h>

#include <c10/core/Scalar.h>
#include <c10/util/string_view.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace at::native {

namespace {

TensorBase as_dtype(const TensorBase& t, ScalarType dtype) {
  return (t.scalar_type() == dtype ? t : t.to(c10::TensorOptions().dtype(dtype))).contiguous();
}

template <class W>
void count_weights(const int64_t* bins, const W* weights, int64_t count, W* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[bins[i]] += weights[i];
  }
}

template <class T>
struct Interval {
  T low;
  T high;
};

// The range of a histogram: given, or that of the data; widened by one on each side when it is a point.
template <class T>
Interval<T> histc_range(const T* in, int64_t count, T low, T high) {
  if (low == high && count > 0) {
    const auto [least, most] = std::minmax_element(in, in + count);
    low = *least;
    high = *most;
    for (int64_t i = 0; i < count; ++i) {
      if (in[i] != in[i]) {
        low = high = in[i];
      }
    }
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  TORCH_CHECK(std::isfinite(low) && std::isfinite(high), "torch.histc: range of [", low, ", ", high, "] is not finite");
  TORCH_CHECK(low < high, "torch.histc: max must be larger than min; got min ", low, " and max ", high);
  return {low, high};
}

// Place of `value` among ascending `edges`: before the first one not smaller (left) or larger (right). The search goes
// on to the right of a NaN, and past the end for one.
template <class T>
int64_t place_of(T value, const T* edges, const int64_t* order, int64_t count, bool right) {
  int64_t low = 0;
  int64_t high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const T edge = edges[order != nullptr ? order[middle] : middle];
    // A mask instead of a branch, which would be foreseen half of the time.
    const int64_t goes_right = -static_cast<int64_t>(right ? !(edge > value) : !(edge >= value));
    low += (middle + 1 - low) & goes_right;
    high = (high & goes_right) | (middle & ~goes_right);
  }
  return low;
}

template <class T, class Index>
void search(
    const TensorBase& edges, const TensorBase& values, const TensorBase& order, bool right, const TensorBase& out) {
  const int64_t row = edges.dim() == 0 ? 1 : edges.sizes().back();
  const int64_t per_row = edges.dim() <= 1 || values.dim() == 0 ? values.numel() : values.sizes().back();
  const bool shared = edges.dim() <= 1;
  const T* edge = edges.const_data_ptr<T>();
  const T* value = values.const_data_ptr<T>();
  const int64_t* place = order.defined() ? order.const_data_ptr<int64_t>() : nullptr;
  Index* result = out.mutable_data_ptr<Index>();
  at::parallel_for(0, values.numel(), 2048, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = shared ? 0 : i / per_row * row;
      result[i] =
          static_cast<Index>(place_of(value[i], edge + start, place != nullptr ? place + start : nullptr, row, right));
    }
  });
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
  auto state = update_result_type_state(edges, {});
  state = update_result_type_state(values, state);
  const ScalarType common = result_type(state);
  const TensorBase edge = as_dtype(edges, common);
  const TensorBase value = as_dtype(values, common);
  const TensorBase sorter = order.has_value() && order->defined() ? as_dtype(*order, ScalarType::Long) : TensorBase();
  if (sorter.defined()) {
    const int64_t* place = sorter.const_data_ptr<int64_t>();
    const int64_t row = sorter.sizes().back();
    TORCH_CHECK(
        std::all_of(place, place + sorter.numel(), [row](int64_t i) { return i >= 0 && i < row; }),
        "torch.searchsorted(): sorter index out of range; indices must be in [0, ", row, ")");
  }
  dispatch("searchsorted_out_cpu", common, kIntegral | kUnsigned | kFloating, [&]<class T> {
    if (out.scalar_type() == ScalarType::Int) {
      search<T, int32_t>(edge, value, sorter, right, out);
    } else {
      search<T, int64_t>(edge, value, sorter, right, out);
    }
  });
}

} // namespace

Tensor bincount_cpu(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0; got ", minlength);
  const bool weighted = weights.has_value() && weights->defined();
  if (self.dim() == 1 && self.numel() == 0) {
    Tensor none = at::empty_contiguous({minlength}, ScalarType::Long, self.device());
    std::fill_n(none.mutable_data_ptr<int64_t>(), minlength, int64_t{0});
    return none;
  }
  const char* says = "bincount only supports 1-d non-negative integral inputs.";
  TORCH_CHECK(
      self.dim() == 1 && c10::isIntegralType(self.scalar_type(), /*includeBool=*/false), says, " Got ", self.dim(),
      " dimensions of ", c10::toString(self.scalar_type()));
  TORCH_CHECK(
      !weighted || (weights->dim() == 1 && weights->numel() == self.numel()),
      "weights should be 1-d and have the same length as input; got ", weighted ? weights->sizes() : IntArrayRef(),
      " for an input of length ", self.numel());
  const TensorBase bins = as_dtype(self, ScalarType::Long);
  const int64_t* bin = bins.const_data_ptr<int64_t>();
  const int64_t count = bins.numel();
  int64_t least = bin[0], most = bin[0];
  for (int64_t i = 1; i < count; ++i) {
    least = std::min(least, bin[i]);
    most = std::max(most, bin[i]);
  }
  TORCH_CHECK(least >= 0, says, " The least value is ", least);
  const int64_t length = std::max(most + 1, minlength);
  const ScalarType dtype = !weighted                ? ScalarType::Long
      : weights->scalar_type() == ScalarType::Float ? ScalarType::Float
                                                    : ScalarType::Double;
  Tensor out = at::empty_contiguous({length}, dtype, self.device());
  const TensorBase weight = weighted ? as_dtype(*weights, dtype) : TensorBase();
  const auto run = [&]<class W>(W) {
    W* result = out.mutable_data_ptr<W>();
    std::fill_n(result, length, W(0));
    if (weighted) {
      count_weights(bin, weight.const_data_ptr<W>(), count, result);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        result[bin[i]] += 1;
      }
    }
  };
  if (dtype == ScalarType::Long) {
    run(int64_t{});
  } else if (dtype == ScalarType::Float) {
    run(float{});
  } else {
    run(double{});
  }
  return out;
}

void histc_kernel(const TensorBase& self, int64_t bins, const Scalar& min, const Scalar& max, const TensorBase& out) {
  // Half and bfloat16 are counted in float: they would stop counting at 2048 and 256.
  const ScalarType dtype = self.scalar_type() == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
  const TensorBase input = as_dtype(self, dtype);
  const Tensor counts = at::empty_contiguous({bins}, dtype, self.device());
  dispatch("histogram_cpu", dtype, kFloatDouble, [&]<class T> {
    const T* in = input.const_data_ptr<T>();
    const int64_t count = input.numel();
    T* result = counts.mutable_data_ptr<T>();
    std::fill_n(result, bins, T(0));
    const auto [low, high] = histc_range(in, count, min.to<T>(), max.to<T>());
    for (int64_t i = 0; i < count; ++i) {
      if (in[i] >= low && in[i] <= high) {
        const auto bin = static_cast<int64_t>((in[i] - low) * static_cast<T>(bins) / (high - low));
        result[std::min(bin, bins - 1)] += 1;
      }
    }
  });
  const TensorBase converted = as_dtype(counts, self.scalar_type());
  std::memcpy(out.mutable_data_ptr(), converted.const_data_ptr(), out.nbytes());
}

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

} // namespace at::native
