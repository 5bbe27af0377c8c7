// max_unpool: elements go back to the indices that a pooling took them from.

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>

namespace at::native {
namespace {

void unpool(const TensorBase& self, const TensorBase& indices, int64_t dims, const TensorBase& out) {
  const TensorBase x = self.contiguous(), places = indices.contiguous();
  const Tensor y = out.is_contiguous() ? Tensor(out) : at::empty_spec(TensorSpec::like(out, out.sizes()));
  int64_t volume = 1, planes = 1;
  for (int64_t d = 0; d < out.dim(); ++d) {
    (d < out.dim() - dims ? planes : volume) *= out.size(d);
  }
  const int64_t taken = planes == 0 ? 0 : x.numel() / planes;
  const int64_t* at = places.const_data_ptr<int64_t>();
  // All indices before anything is written.
  for (int64_t i = 0; i < x.numel(); ++i) {
    TORCH_CHECK(
        at[i] >= 0 && at[i] < volume, "Found an invalid max index: ", at[i], " (output volumes are of size ",
        c10::Join("x", out.sizes().slice(out.dim() - dims)), ")");
  }
  dispatch("max_unpool", self.scalar_type(), kFloating | kIntegral, [&]<class T> {
    const T* from = x.const_data_ptr<T>();
    T* to = y.mutable_data_ptr<T>();
    at::parallel_for(
        0, planes, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, volume)), [&](int64_t begin, int64_t end) {
          std::fill(to + begin * volume, to + end * volume, T(0));
          for (int64_t p = begin; p < end; ++p) {
            for (int64_t i = p * taken; i < (p + 1) * taken; ++i) {
              to[p * volume + at[i]] = from[i];
            }
          }
        });
  });
  if (!y.is_same(Tensor(out))) {
    Tensor(out).copy_(y);
  }
}

} // namespace

void max_unpool2d_kernel(const TensorBase& self, const TensorBase& indices, IntArrayRef, const TensorBase& out) {
  unpool(self, indices, 2, out);
}

void max_unpool3d_kernel(
    const TensorBase& self, const TensorBase& indices, IntArrayRef, IntArrayRef, IntArrayRef, const TensorBase& out) {
  unpool(self, indices, 3, out);
}

} // namespace at::native
