// Hashes of what tensors hold.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/ops/hash_tensor.h>

#include <cstdint>

#include "test/support/matchers.h"

using at::Tensor;
using test::Says;

namespace {

uint64_t hash(const Tensor& t) {
  const Tensor result = at::hash_tensor(t);
  CHECK(result.scalar_type() == at::ScalarType::UInt64);
  return *result.const_data_ptr<uint64_t>();
}

} // namespace

TEST_CASE("hash_tensor joins bits as PyTorch does", "[hash_tensor]") {
  const Tensor a = at::arange(6.f).view({2, 3});
  CHECK(hash(a) == 4610560118520545280u);
  CHECK(hash(a.t()) == hash(a));
  CHECK(hash(a.to(at::kHalf)) == hash(a));
  CHECK(hash(a.to(at::kInt)) == 1);
  CHECK(hash(a > 1) == 0);
  CHECK(hash(at::tensor({-1, 2}, at::kChar)) == 18446744073709551613u);
  CHECK(hash(at::tensor(-0.)) == uint64_t{1} << 63);
  const Tensor rows = at::hash_tensor(a, 1);
  CHECK(rows.const_data_ptr<uint64_t>()[0] == 9218868437227405312u);
  CHECK(rows.const_data_ptr<uint64_t>()[1] == 4615063718147915776u);
  CHECK(at::hash_tensor(a, {0, 1}, true).sizes() == at::IntArrayRef({1, 1}));
  CHECK_THROWS_MATCHES(at::hash_tensor(a, 0, false, 1), c10::Error, Says("Unknown hash_tensor mode: 1"));
  CHECK_THROWS_MATCHES(
      at::hash_tensor(at::tensor(c10::complex<float>(1, 2))), c10::Error,
      Says("\"xor_sum_cpu\" not implemented for 'ComplexFloat'"));
  CHECK_THROWS_MATCHES(
      at::hash_tensor(at::zeros({0, 3}), 0), c10::Error, Says("Expected reduction dim 0 to have non-zero size."));
}
