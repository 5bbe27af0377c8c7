// Random numbers that are functions of a key, on the CPU.
#include <aten/native/random/philox_rows.h>

#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/ops/empty.h>
#include <c10/util/DimVector.h>
#include <c10/util/accumulate.h>

#include <algorithm>

namespace at::native {

void check_philox_key(const char* op, const char* shape, const Tensor& key) {
  TORCH_CHECK(key.scalar_type() == kUInt64, op, ": key must have dtype uint64, got ", key.scalar_type());
  TORCH_CHECK(key.dim() >= 1 && key.size(-1) == 2, op, ": key must have shape ", shape, ", got shape ", key.sizes());
}

namespace {

void check_philox_fill(const char* op, const Tensor& self, const Tensor& key) {
  check_philox_key(op, "(2,) or (*batch, 2)", key);
  if (key.dim() > 1) {
    TORCH_CHECK(
        key.dim() == self.dim() + 1, op, ": batched key must have ndim == output ndim + 1, got key shape ", key.sizes(),
        " with output shape ", self.sizes());
    for (int64_t d = 0; d < self.dim(); ++d) {
      TORCH_CHECK(
          key.size(d) == 1 || key.size(d) == self.size(d), op, ": key batch shape ", key.sizes().slice(0, self.dim()),
          " is not broadcastable with output shape ", self.sizes());
    }
  }
  at::assert_no_internal_overlap(self);
}

template <class T, class Map>
void fill_rows(Tensor& self, const PhiloxRows& r, const Map& map) {
  constexpr int64_t kElements = kPhiloxElements<T>;
  const uint64_t* key = r.keys.const_data_ptr<uint64_t>();
  T* to = r.filled.mutable_data_ptr<T>();
  for (int64_t row = 0; row < r.rows; ++row, key += 2) {
    for (int64_t i = 0; i < r.width; i += kElements) {
      const int64_t n = std::min(kElements, r.width - i);
      map(philox_block(key[0], key[1] + static_cast<uint64_t>(i / kElements)), to, static_cast<int>(n));
      to += n;
    }
  }
  self.copy_(r.filled);
}

} // namespace

PhiloxRows philox_rows(const char* op, const Tensor& self, const Tensor& key) {
  check_philox_fill(op, self, key);
  int64_t outer = key.dim() - 1;
  while (outer > 0 && key.size(outer - 1) == 1) {
    --outer;
  }
  c10::DimVector shape(self.sizes().begin(), self.sizes().begin() + outer);
  PhiloxRows result;
  result.rows = c10::multiply_integers(shape);
  result.width = result.rows == 0 ? 0 : self.numel() / result.rows;
  shape.insert(shape.end(), key.dim() - 1 - outer, 1);
  shape.push_back(2);
  result.keys = key.expand(shape).contiguous();
  result.filled = at::empty(self.sizes(), self.options());
  return result;
}

Tensor philox_key_split_cpu(const Tensor& key, int64_t num_splits) {
  check_philox_key("_philox_key_split", "(*batch, 2)", key);
  TORCH_CHECK(num_splits > 0, "_philox_key_split: num_splits must be positive, got ", num_splits);
  c10::DimVector shape(key.sizes().begin(), key.sizes().end());
  shape.insert(shape.begin(), num_splits);
  const Tensor keys = key.contiguous();
  Tensor result = empty_contiguous(shape, kUInt64, kCPU);
  const uint64_t* from = keys.const_data_ptr<uint64_t>();
  uint64_t* to = result.mutable_data_ptr<uint64_t>();
  for (int64_t split = 0; split < num_splits; ++split) {
    for (int64_t i = 0; i < keys.numel(); i += 2, to += 2) {
      derive_philox_key(from + i, static_cast<uint64_t>(split), to);
    }
  }
  return result;
}

Tensor philox_key_fold_in_cpu(const Tensor& key, int64_t data) {
  check_philox_key("_philox_key_fold_in", "(*batch, 2)", key);
  const Tensor keys = key.contiguous();
  Tensor result = empty_contiguous(key.sizes(), kUInt64, kCPU);
  const uint64_t* from = keys.const_data_ptr<uint64_t>();
  uint64_t* to = result.mutable_data_ptr<uint64_t>();
  for (int64_t i = 0; i < keys.numel(); i += 2) {
    derive_philox_key(from + i, static_cast<uint64_t>(data), to + i);
  }
  return result;
}

Tensor philox_key_fold_in_tensor_cpu(const Tensor& key, const Tensor& data) {
  TORCH_CHECK(
      data.scalar_type() == kUInt64, "_philox_key_fold_in: data must have dtype uint64, got ", data.scalar_type());
  TORCH_CHECK(data.numel() == 1, "_philox_key_fold_in: data must be a single value, got ", data.numel(), " elements");
  const Tensor value = data.contiguous();
  return philox_key_fold_in_cpu(key, static_cast<int64_t>(*value.const_data_ptr<uint64_t>()));
}

Tensor& philox_uniform_cpu(Tensor& self, const Tensor& key, double low, double high) {
  dispatch("_philox_uniform_", self.scalar_type(), at::kFloating, [&]<class T> {
    using W = at::opmath_type<T>;
    const W from = static_cast<W>(low);
    fill_rows<T>(self, philox_rows("_philox_uniform_", self, key), PhiloxUniform<T>{from, static_cast<W>(high) - from});
  });
  return self;
}

Tensor& philox_normal_cpu(Tensor& self, const Tensor& key, double mean, double std) {
  dispatch("_philox_normal_", self.scalar_type(), at::kFloating, [&]<class T> {
    using W = at::opmath_type<T>;
    fill_rows<T>(
        self, philox_rows("_philox_normal_", self, key), PhiloxNormal<T>{static_cast<W>(mean), static_cast<W>(std)});
  });
  return self;
}

Tensor& philox_randint_cpu(Tensor& self, const Tensor& key, std::optional<int64_t> low, std::optional<int64_t> high) {
  constexpr const char* kOp = "_philox_randint_";
  const auto kinds = at::kIntegral | at::kUnsigned;
  TORCH_CHECK(kinds.contains(self.scalar_type()), kOp, ": self must have an integer dtype, got ", self.scalar_type());
  dispatch(kOp, self.scalar_type(), kinds, [&]<class T> {
    const PhiloxRandint<T> map = philox_range<T>(kOp, self.scalar_type(), low, high);
    fill_rows<T>(self, philox_rows(kOp, self, key), map);
  });
  return self;
}

} // namespace at::native
