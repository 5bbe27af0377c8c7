#include <aten/native/cuda/fft_plan.h>

#include <algorithm>

namespace at::native::cuda {

FftDims fft_dims(const TensorBase& t, IntArrayRef signal) {
  FftDims dims{{}, DimVector(signal.begin(), signal.end())};
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (std::find(signal.begin(), signal.end(), d) == signal.end()) {
      dims.batch.push_back(d);
    }
  }
  std::stable_sort(
      dims.batch.begin(), dims.batch.end(), [&](int64_t a, int64_t b) { return t.stride(a) > t.stride(b); });
  return dims;
}

std::optional<FftLayout> fft_layout(const TensorBase& t, const FftDims& dims, bool unit_stride) {
  FftLayout layout;
  const int64_t rank = static_cast<int64_t>(dims.signal.size());
  int64_t step = 1; // of the dimension looked at last; those of one element may have any
  for (int64_t i = rank - 1; i >= 0; --i) {
    const int64_t size = t.size(dims.signal[i]), stride = t.stride(dims.signal[i]);
    const bool last = i == rank - 1;
    if (last) {
      step = size == 1 ? 1 : stride;
      layout.stride = step;
      if (step < 1 || (unit_stride && step != 1)) {
        return std::nullopt;
      }
      layout.embed[i] = size;
      continue;
    }
    const int64_t below = t.size(dims.signal[i + 1]);
    const int64_t here = size == 1 ? below * step : stride;
    if (here % step != 0 || here / step < below) {
      return std::nullopt;
    }
    layout.embed[i + 1] = here / step;
    layout.embed[i] = size;
    step = here;
  }
  // The others must be one dimension to cuFFT.
  int64_t batch = 1;
  for (auto d = dims.batch.rbegin(); d != dims.batch.rend(); ++d) {
    const int64_t size = t.size(*d), stride = t.stride(*d);
    if (size == 1) {
      continue;
    }
    if (batch == 1) {
      layout.distance = stride;
    } else if (stride != layout.distance * batch) {
      return std::nullopt;
    }
    batch *= size;
  }
  if (batch == 1) {
    layout.distance = step * t.size(dims.signal[0]);
  }
  if (layout.distance < 1) {
    return std::nullopt;
  }
  return layout;
}

} // namespace at::native::cuda
