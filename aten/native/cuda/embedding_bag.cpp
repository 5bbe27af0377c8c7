// embedding_bag and its gradients; arguments are checked by aten/shape/embedding_bag.cpp, indices by the kernels.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/embedding_bag.h>
#include <aten/native/support/optional_tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

Tensor as_long(const TensorBase& t) {
  return t.scalar_type() == kLong ? Tensor(t).contiguous() : Tensor(t).to(kLong).contiguous();
}

/// Where a kernel writes int64 numbers for `t`: into it, if it can.
Tensor written_for(const TensorBase& t) {
  return t.scalar_type() == kLong && t.is_contiguous() ? Tensor(t)
                                                       : at::empty(t.sizes(), Tensor(t).options().dtype(kLong));
}
void bring_to(const TensorBase& t, const Tensor& written) {
  if (!t.is_same(written)) {
    copy_on_device(t, written);
  }
}
int64_t* indices_or_null(const Tensor& t) {
  return t.numel() != 0 ? t.mutable_data_ptr<int64_t>() : nullptr;
}

/// The bag of each index: as many offsets are at or before it, but one.
Tensor bags_of(const Tensor& offsets, int64_t bags, int64_t count) {
  const Tensor starts = offsets.slice(0, 0, bags).contiguous();
  return at::searchsorted(starts, at::arange(count, starts.options()), /*out_int32=*/false, /*right=*/true)
      .sub_(1)
      .clamp_min_(0);
}

/// Numbers to multiply rows with, in the type of sums.
Tensor as_sum(const Tensor& t) {
  return t.to(c10::toOpMathType(t.scalar_type()));
}

} // namespace

void embedding_bag_kernel(
    const TensorBase& weight,
    const TensorBase& indices,
    const TensorBase& offsets,
    bool,
    int64_t mode,
    bool,
    const std::optional<Tensor>& per_sample_weights,
    bool,
    int64_t padding_idx,
    const TensorBase& out,
    const TensorBase& offset2bag,
    const TensorBase& bag_size,
    const TensorBase& max_indices) {
  if (!kFloating.contains(weight.scalar_type())) {
    at::detail::dtype_not_supported("embedding_bag", weight.scalar_type(), kFloating.bits);
  }
  const Tensor table = Tensor(weight).contiguous(), index = as_long(indices), starts = as_long(offsets);
  const Tensor scales = given(per_sample_weights) ? per_sample_weights->contiguous() : Tensor();
  const Tensor sizes = written_for(bag_size), places = written_for(max_indices), bags = written_for(offset2bag);
  if (out.numel() == 0) {
    sizes.zero_();
    places.zero_();
    if (bags.numel() != 0) {
      copy_on_device(bags, bags_of(starts, out.size(0), index.numel()));
    }
  } else {
    EmbeddingBag p;
    p.bags = out.size(0);
    p.count = index.numel();
    p.width = out.size(1);
    // The last offset, where it is given as one more, is no bound: the last bag ends with the indices.
    p.offset_count = std::min(starts.numel(), p.bags);
    p.padding_idx = padding_idx;
    p.mode = static_cast<EmbeddingBag::Mode>(mode);
    p.dtype = table.scalar_type();
    p.table = table.const_data_ptr();
    p.scales = scales.defined() ? scales.const_data_ptr() : nullptr;
    p.indices = index.const_data_ptr<int64_t>();
    p.offsets = starts.const_data_ptr<int64_t>();
    p.out = out.mutable_data_ptr();
    p.sizes = indices_or_null(sizes);
    p.places = indices_or_null(places);
    p.bag_of = indices_or_null(bags);
    p.one_more = sizes.numel() > p.bags;
    p.check = {index_error_slot(), "embedding_bag", "indices", table.size(0)};
    p.check_offset = {index_error_slot(), "embedding_bag", "offsets", p.count + 1};
    p.stream = c10::cuda::getCurrentCUDAStream();
    launch_embedding_bag(p);
  }
  bring_to(bag_size, sizes);
  bring_to(max_indices, places);
  bring_to(offset2bag, bags);
}

void embedding_bag_dense_backward_kernel(
    const TensorBase& grad,
    const TensorBase& indices,
    const TensorBase& offset2bag,
    const TensorBase& bag_size,
    const TensorBase& maximum_indices,
    int64_t num_weights,
    bool scale_grad_by_freq,
    int64_t mode,
    const std::optional<Tensor>& per_sample_weights,
    int64_t padding_idx,
    const TensorBase& out) {
  const Tensor g = as_sum(Tensor(grad)), index = as_long(indices);
  const Tensor sums = at::zeros({num_weights, grad.size(1)}, g.options()), none = at::zeros({}, g.options());
  if (mode == EmbeddingBag::Max) {
    const Tensor used = Tensor(bag_size).gt(0).unsqueeze(1);
    sums.scatter_add_(0, as_long(maximum_indices), g.where(used, none));
  } else if (g.size(0) > 0 && index.numel() > 0) {
    const Tensor bag = as_long(offset2bag);
    Tensor scale = given(per_sample_weights) ? as_sum(*per_sample_weights) : at::ones(index.sizes(), g.options());
    if (scale_grad_by_freq) {
      const Tensor uses = at::zeros({num_weights}, index.options()).scatter_add_(0, index, at::ones_like(index));
      scale = scale / uses.index_select(0, index);
    }
    if (mode == EmbeddingBag::Mean) {
      scale = scale / as_long(bag_size).index_select(0, bag).clamp_min_(1);
    }
    const Tensor counts = index.ne(padding_idx).unsqueeze(1);
    sums.index_add_(0, index, (g.index_select(0, bag) * scale.unsqueeze(1)).where(counts, none));
  }
  copy_on_device(out, sums);
}

void embedding_bag_per_sample_weights_backward_kernel(
    const TensorBase& grad,
    const TensorBase& weight,
    const TensorBase& indices,
    const TensorBase& offsets,
    const TensorBase& offset2bag,
    int64_t,
    int64_t padding_idx,
    const TensorBase& out) {
  const Tensor index = as_long(indices);
  if (index.numel() == 0 || grad.size(0) == 0) {
    out.zero_();
    return;
  }
  const Tensor bag =
      offset2bag.numel() > 0 ? as_long(offset2bag) : bags_of(as_long(offsets), grad.size(0), index.numel());
  const Tensor products = as_sum(Tensor(grad)).index_select(0, bag) * as_sum(Tensor(weight)).index_select(0, index);
  const Tensor sums = products.sum(1);
  copy_on_device(out, sums.where(index.ne(padding_idx), at::zeros({}, sums.options())));
}

} // namespace at::native::cuda
