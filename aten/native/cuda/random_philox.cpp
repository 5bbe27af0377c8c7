// Random numbers that are functions of a key, on CUDA devices.
#include <aten/native/cuda/random_philox.h>

#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/native/random/philox_rows.h>
#include <c10/util/DimVector.h>

#include <optional>

namespace at::native {

namespace {

/// Fills self by `launch`.
template <class Launch>
Tensor& fill_by_key(const char* op, Tensor& self, const Tensor& key, const Launch& launch) {
  const PhiloxRows r = philox_rows(op, self, key);
  if (self.numel() != 0) {
    launch(cuda::PhiloxFill{
        self.scalar_type(), r.keys.const_data_ptr<uint64_t>(), r.rows, r.width, r.filled.mutable_data_ptr(),
        c10::cuda::getCurrentCUDAStream()});
    self.copy_(r.filled);
  }
  return self;
}

void check_floating_fill(const char* op, const Tensor& self) {
  if (!at::kFloating.contains(self.scalar_type())) {
    at::detail::dtype_not_supported(op, self.scalar_type(), at::kFloating.bits);
  }
}

Tensor derived_keys(const Tensor& key, IntArrayRef sizes, int64_t splits, uint64_t first, const uint64_t* number) {
  const Tensor keys = key.contiguous();
  Tensor result = at::empty(sizes, key.options());
  if (result.numel() != 0) {
    cuda::launch_philox_keys(
        {keys.const_data_ptr<uint64_t>(), keys.numel() / 2, splits, first, number, result.mutable_data_ptr<uint64_t>(),
         c10::cuda::getCurrentCUDAStream()});
  }
  return result;
}

} // namespace

Tensor philox_key_split_cuda(const Tensor& key, int64_t num_splits) {
  check_philox_key("_philox_key_split", "(*batch, 2)", key);
  TORCH_CHECK(num_splits > 0, "_philox_key_split: num_splits must be positive, got ", num_splits);
  c10::DimVector shape(key.sizes().begin(), key.sizes().end());
  shape.insert(shape.begin(), num_splits);
  return derived_keys(key, shape, num_splits, 0, nullptr);
}

Tensor philox_key_fold_in_cuda(const Tensor& key, int64_t data) {
  check_philox_key("_philox_key_fold_in", "(*batch, 2)", key);
  return derived_keys(key, key.sizes(), 1, static_cast<uint64_t>(data), nullptr);
}

Tensor philox_key_fold_in_tensor_cuda(const Tensor& key, const Tensor& data) {
  check_philox_key("_philox_key_fold_in", "(*batch, 2)", key);
  TORCH_CHECK(
      data.scalar_type() == kUInt64, "_philox_key_fold_in: data must have dtype uint64, got ", data.scalar_type());
  TORCH_CHECK(data.numel() == 1, "_philox_key_fold_in: data must be a single value, got ", data.numel(), " elements");
  const Tensor value = data.to(key.device());
  return derived_keys(key, key.sizes(), 1, 0, value.const_data_ptr<uint64_t>());
}

Tensor& philox_uniform_cuda(Tensor& self, const Tensor& key, double low, double high) {
  check_floating_fill("_philox_uniform_", self);
  return fill_by_key(
      "_philox_uniform_", self, key, [&](const cuda::PhiloxFill& p) { cuda::launch_philox_uniform(p, low, high); });
}

Tensor& philox_normal_cuda(Tensor& self, const Tensor& key, double mean, double std) {
  check_floating_fill("_philox_normal_", self);
  return fill_by_key(
      "_philox_normal_", self, key, [&](const cuda::PhiloxFill& p) { cuda::launch_philox_normal(p, mean, std); });
}

Tensor& philox_randint_cuda(Tensor& self, const Tensor& key, std::optional<int64_t> low, std::optional<int64_t> high) {
  constexpr const char* kOp = "_philox_randint_";
  const auto kinds = at::kIntegral | at::kUnsigned;
  TORCH_CHECK(kinds.contains(self.scalar_type()), kOp, ": self must have an integer dtype, got ", self.scalar_type());
  dispatch(kOp, self.scalar_type(), kinds, [&]<class T> {
    const PhiloxRandint<T> map = philox_range<T>(kOp, self.scalar_type(), low, high);
    fill_by_key(kOp, self, key, [&](const cuda::PhiloxFill& p) {
      cuda::launch_philox_randint(p, map.range, map.from, map.whole);
    });
  });
  return self;
}

} // namespace at::native
