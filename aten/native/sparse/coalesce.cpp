// Indices sorted and made unique; values of one index added up in the order in which they came.
#include <aten/native/sparse/coo.h>

#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/pointwise/math.h>
#include <aten/native/sparse/device_kernels.h>
#include <aten/parallel/Parallel.h>

#include <vector>

namespace at::native {

namespace {

constexpr auto kCoalesced = at::kAll | at::kComplexHalves;

template <class T>
void add_to(T* out, const T* values, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = pointwise::add(out[i], values[i]);
  }
}

/// Groups of equal indices, in order: for each the number of its first one in `sorted`, and the end.
std::vector<int64_t> group_starts(const int64_t* sorted, int64_t nnz) {
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < nnz; ++i) {
    if (i == 0 || sorted[i] != sorted[i - 1]) {
      starts.push_back(i);
    }
  }
  starts.push_back(nnz);
  return starts;
}

Tensor sum_groups(const Tensor& values, const int64_t* order, const std::vector<int64_t>& starts) {
  const int64_t groups = static_cast<int64_t>(starts.size()) - 1;
  c10::DimVector sizes(values.sizes().begin(), values.sizes().end());
  sizes[0] = groups;
  Tensor result = at::empty(sizes, values.options());
  const int64_t block = values.numel() / std::max<int64_t>(values.size(0), 1);
  dispatch("coalesce", values.scalar_type(), kCoalesced, [&]<class T> {
    const T* from = values.const_data_ptr<T>();
    T* out = result.mutable_data_ptr<T>();
    at::parallel_for(
        0, groups, at::internal::GRAIN_SIZE / std::max<int64_t>(block, 1) + 1, [&](int64_t begin, int64_t end) {
          for (int64_t group = begin; group < end; ++group) {
            T* sum = out + group * block;
            std::copy_n(from + order[starts[group]] * block, block, sum);
            for (int64_t i = starts[group] + 1; i < starts[group + 1]; ++i) {
              add_to(sum, from + order[i] * block, block);
            }
          }
        });
  });
  return result;
}

/// The same as numbers on the device of `sorted`, without the end.
Tensor first_of_groups(const Tensor& sorted) {
  const Tensor differs = sorted.narrow(0, 1, sorted.numel() - 1).ne(sorted.narrow(0, 0, sorted.numel() - 1));
  return at::cat({at::ones({1}, differs.options()), differs}).nonzero().squeeze(1);
}

Tensor sum_on_device(
    const SparseDeviceKernels& device, const Tensor& values, const Tensor& order, const Tensor& firsts) {
  c10::DimVector sizes(values.sizes().begin(), values.sizes().end());
  sizes[0] = firsts.numel();
  const Tensor result = at::empty(sizes, values.options());
  device.sum_groups(values.contiguous(), order, firsts, result);
  return result;
}

} // namespace

Tensor _coalesce_coo(const Tensor& self) {
  const SparseTensorImpl* impl = get_sparse_impl(self);
  const int64_t nnz = impl->nnz();
  if (nnz < 2) {
    Tensor copy = at::clone(self);
    get_sparse_impl(copy)->set_coalesced(true);
    return copy;
  }
  const Tensor places = at::sparse::flatten_indices(impl->indices(), self.sizes());
  const auto [sorted, order] = places.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  if (const SparseDeviceKernels* const device = sparse_kernels(places)) {
    const Tensor firsts = first_of_groups(sorted);
    const Tensor values = sum_on_device(*device, impl->values(), order, firsts);
    return make_coo(
        self.sizes(), impl->indices().index_select(1, order.index_select(0, firsts)), values, /*coalesced=*/true);
  }
  const std::vector<int64_t> starts = group_starts(sorted.const_data_ptr<int64_t>(), nnz);
  const int64_t groups = static_cast<int64_t>(starts.size()) - 1;
  const int64_t* from = order.const_data_ptr<int64_t>();

  const Tensor old = impl->indices().contiguous();
  const Tensor indices = at::empty({impl->sparse_dim(), groups}, old.options());
  for (int64_t dim = 0; dim < impl->sparse_dim(); ++dim) {
    const int64_t* row = old.const_data_ptr<int64_t>() + dim * nnz;
    int64_t* out = indices.mutable_data_ptr<int64_t>() + dim * groups;
    for (int64_t group = 0; group < groups; ++group) {
      out[group] = row[from[starts[group]]];
    }
  }
  return make_coo(self.sizes(), indices, sum_groups(impl->values().contiguous(), from, starts), /*coalesced=*/true);
}

Tensor coalesced(const Tensor& self) {
  return get_sparse_impl(self)->coalesced() ? self : _coalesce_coo(self);
}

void add_blocks(const Tensor& out, const Tensor& places, const Tensor& values_, const Scalar& alpha) {
  const Tensor values = values_.contiguous();
  const int64_t nnz = places.numel();
  const int64_t block = nnz == 0 ? 0 : values.numel() / nnz;
  if (const SparseDeviceKernels* const device = sparse_kernels(out); device != nullptr && nnz > 0 && out.numel() > 0) {
    // Each index once, so that the order of the sums is the same from run to run.
    const auto [sorted, order] = places.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
    const Tensor firsts = first_of_groups(sorted);
    const Tensor sums = sum_on_device(*device, values.reshape({nnz, block}), order, firsts);
    const Tensor targets = sorted.index_select(0, firsts);
    Tensor blocks = out.view({-1, block});
    blocks.index_copy_(0, targets, blocks.index_select(0, targets).add(sums.to(out.scalar_type()), alpha));
    return;
  }
  const int64_t* place = places.const_data_ptr<int64_t>();
  dispatch("add_blocks", out.scalar_type(), kCoalesced, [&]<class T> {
    const T* from = values.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    if (alpha.equal(1)) {
      for (int64_t i = 0; i < nnz; ++i) {
        add_to(to + place[i] * block, from + i * block, block);
      }
      return;
    }
    const T factor = alpha.to<T>();
    for (int64_t i = 0; i < nnz; ++i) {
      for (int64_t j = 0; j < block; ++j) {
        const T term = pointwise::mul(factor, from[i * block + j]);
        add_to(to + place[i] * block + j, &term, 1);
      }
    }
  });
}

} // namespace at::native
