// cdist and pdist: the host side of distance.cu. Arguments are checked by aten/shape/distance.cpp.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/distance.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

namespace {

void check_dtype(const char* op, const TensorBase& t) {
  if (!kFloatDouble.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(op, t.scalar_type(), kFloatDouble.bits);
  }
}

/// Matrices of the batch that `like` has, contiguous.
Tensor matrices(const TensorBase& t, const TensorBase& like) {
  DimVector sizes(like.sizes().begin(), like.sizes().end() - 2);
  sizes.append({t.size(-2), t.size(-1)});
  return Tensor(t).expand(sizes).contiguous();
}

Distances problem_of(const Tensor& a, const Tensor& b, double p) {
  const int64_t rows = a.size(-2), others = b.size(-2), cols = a.size(-1);
  int64_t batch = 1;
  for (int64_t d = 0; d < a.dim() - 2; ++d) {
    batch *= a.size(d);
  }
  return {
      batch,
      rows,
      others,
      cols,
      p,
      a.scalar_type(),
      a.const_data_ptr(),
      b.const_data_ptr(),
      c10::cuda::getCurrentCUDAStream()};
}

/// `out`, or a contiguous tensor that is to be copied there.
Tensor contiguous_target(const TensorBase& out) {
  return out.is_contiguous() ? Tensor(out) : at::empty(out.sizes(), Tensor(out).options());
}
void finish(const TensorBase& wanted, const Tensor& written) {
  if (!written.is_same(Tensor(wanted))) {
    copy_on_device(wanted, written);
  }
}

/// The pairs of pdist in a matrix of all rows by all: places in its flattened form.
Tensor pair_places(const TensorBase& self) {
  const int64_t n = self.size(0);
  const Tensor pairs = at::triu_indices(n, n, 1, Tensor(self).options().dtype(kLong));
  return pairs.select(0, 0).mul(n).add_(pairs.select(0, 1));
}

/// Values of pairs on both sides of the diagonal, which is zero.
Tensor square_of(const TensorBase& values, const Tensor& places, int64_t n) {
  const Tensor flat = Tensor(values).contiguous();
  const Tensor upper = at::zeros({n * n}, flat.options()).scatter_(0, places, flat).view({n, n});
  return upper.add(upper.t());
}

} // namespace

void cdist_forward_kernel(
    const TensorBase& x1, const TensorBase& x2, double p, std::optional<int64_t>, const TensorBase& out) {
  check_dtype("cdist_cuda", out);
  if (out.numel() != 0) {
    const Tensor a = matrices(x1, out), b = matrices(x2, out), result = contiguous_target(out);
    launch_distances(problem_of(a, b, p), result.mutable_data_ptr());
    finish(out, result);
  }
}

void cdist_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& x1,
    const TensorBase& x2,
    double p,
    const TensorBase& cdist,
    const TensorBase& out) {
  check_dtype("cdist_backward_cuda", out);
  if (out.numel() != 0) {
    const Tensor a = matrices(x1, out), b = matrices(x2, out), grad = matrices(grad_output, out),
                 distances = matrices(cdist, out), result = contiguous_target(out);
    launch_distances_backward(
        problem_of(a, b, p), grad.const_data_ptr(), distances.const_data_ptr(), result.mutable_data_ptr());
    finish(out, result);
  }
}

void pdist_forward_kernel(const TensorBase& self, double p, const TensorBase& out) {
  check_dtype("pdist_cuda", out);
  if (out.numel() != 0) {
    const Tensor a = Tensor(self).contiguous(), all = at::empty({self.size(0), self.size(0)}, a.options());
    launch_distances(problem_of(a, a, p), all.mutable_data_ptr());
    copy_on_device(out, all.view({-1}).index_select(0, pair_places(self)));
  }
}

void pdist_backward_kernel(
    const TensorBase& grad_output, const TensorBase& self, double p, const TensorBase& pdist, const TensorBase& out) {
  check_dtype("pdist_backward_cuda", out);
  if (out.numel() != 0) {
    const Tensor a = Tensor(self).contiguous(), places = pair_places(self), result = contiguous_target(out);
    const Tensor grad = square_of(grad_output, places, a.size(0)), distances = square_of(pdist, places, a.size(0));
    launch_distances_backward(
        problem_of(a, a, p), grad.const_data_ptr(), distances.const_data_ptr(), result.mutable_data_ptr());
    finish(out, result);
  }
}

} // namespace at::native::cuda
