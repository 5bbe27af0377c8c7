#include "test/support/random.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "test/support/elements.h"

namespace test {

at::Tensor tensor_of(
    c10::ScalarType dtype,
    const std::vector<int64_t>& sizes,
    const std::function<std::complex<double>(int64_t)>& value) {
  at::Tensor tensor = at::empty(sizes, at::TensorOptions().dtype(dtype));
  auto* data = static_cast<std::byte*>(tensor.data_ptr());
  const auto item_size = static_cast<int64_t>(dtype_info(dtype).item_size);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    write_number(dtype, value(i), data + i * item_size);
  }
  return tensor;
}

uint64_t seed() {
  static const uint64_t value = [] {
    const char* text = std::getenv("TENSOR_TEST_SEED");
    const uint64_t chosen = text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
    std::fprintf(stderr, "random test data: TENSOR_TEST_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return value;
}

at::Tensor Random::tensor(c10::ScalarType dtype, const std::vector<int64_t>& sizes, double low, double high) {
  const Category category = dtype_info(dtype).category;
  if (category == Category::Bool) {
    return tensor_of(dtype, sizes, [&](int64_t) { return static_cast<double>(integer(0, 1)); });
  }
  if (category == Category::Integer) {
    const double lowest = dtype == c10::ScalarType::Byte ? std::max(low, 0.0) : low;
    const auto first = static_cast<int64_t>(std::ceil(lowest));
    const auto last = std::max(first, static_cast<int64_t>(std::floor(std::min(high, 127.0))));
    return tensor_of(dtype, sizes, [&](int64_t) { return static_cast<double>(integer(first, last)); });
  }
  const bool is_complex = category == Category::Complex;
  return tensor_of(dtype, sizes, [&](int64_t) {
    const double real = uniform(low, high);
    return std::complex<double>(real, is_complex ? uniform(low, high) : 0.0);
  });
}

at::Tensor Random::distinct(c10::ScalarType dtype, const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::shuffle(order.begin(), order.end(), engine_);
  const double step = dtype_info(dtype).category == Category::Integer ? 1.0 : 0.25;
  const int64_t shift = dtype == c10::ScalarType::Byte ? 0 : count / 2;
  return tensor_of(dtype, sizes, [&](int64_t i) { return step * static_cast<double>(order[i] - shift); });
}

at::Tensor Random::indices(const std::vector<int64_t>& sizes, int64_t bound) {
  return tensor_of(c10::ScalarType::Long, sizes, [&](int64_t) { return static_cast<double>(integer(0, bound - 1)); });
}

} // namespace test
