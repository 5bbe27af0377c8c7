// Padding by a constant, cut into launches: small tensors carried out on the host, with little reach.
#include <aten/native/cuda/pad_plan.h>

#include <catch2/catch.hpp>

#include <cstring>
#include <random>
#include <vector>

using at::native::cuda::ConstantPadding;
using at::native::cuda::each_part;
using at::native::cuda::PaddedDims;
using at::native::cuda::PadReach;
using at::native::cuda::PadValue;
using at::native::cuda::simplify;
using at::native::cuda::widen_to_words;

namespace {

/// What the kernel does, for elements of `size` bytes.
void pad_on_host(const ConstantPadding& p, std::size_t size, const void* value, const void* inner, void* padded) {
  for (std::uint32_t i = 0; i < p.n; ++i) {
    const std::int64_t from = p.inner_place(i);
    const void* const element =
        from >= 0 ? static_cast<const char*>(inner) + from * static_cast<std::int64_t>(size) : value;
    std::memcpy(static_cast<char*>(padded) + i * size, element, size);
  }
}

} // namespace

TEST_CASE("padding by a constant fills every element once, however it is cut", "[cuda]") {
  std::mt19937 random(7);
  const auto number = [&](int below) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(below)); };
  for (int round = 0; round < 400; ++round) {
    const auto ndim = static_cast<std::size_t>(1 + number(6));
    PaddedDims dims(ndim);
    std::int64_t n = 1, inner_n = 1;
    for (std::size_t d = ndim; d-- > 0;) {
      const std::int64_t inside = 1 + number(4), before = number(3) == 0 ? number(3) : 0,
                         after = number(3) == 0 ? number(3) : 0;
      const std::int64_t factor = d + 1 == ndim && number(2) == 0 ? 4 : 1;
      dims[d] = {factor * (before + inside + after), factor * before, factor * inside, inner_n, n};
      n *= dims[d].size;
      inner_n *= dims[d].inside + (number(5) == 0 ? 1 : 0); // sometimes with gaps
    }
    std::vector<std::int32_t> inner(static_cast<std::size_t>(2 * inner_n));
    for (std::size_t i = 0; i < inner.size(); ++i) {
      inner[i] = static_cast<std::int32_t>(i);
    }
    std::vector<std::int32_t> want(static_cast<std::size_t>(n)), got(static_cast<std::size_t>(n), -2);
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t from = 0;
      bool inside = true;
      for (const auto& d : dims) {
        const std::int64_t place = i / d.padded_stride % d.size - d.before;
        inside = inside && place >= 0 && place < d.inside;
        from += place * d.stride;
      }
      want[static_cast<std::size_t>(i)] = inside ? inner[static_cast<std::size_t>(from)] : -1;
    }
    PadValue value;
    const std::int32_t element = -1;
    std::memcpy(value.bytes, &element, sizeof(element));
    value.size = sizeof(element);
    simplify(dims);
    widen_to_words(dims, value, inner.data(), got.data());
    const PadReach reach{round % 2 == 0 ? INT32_MAX : 1 + number(20), round % 3 == 0 ? 2u : 12u};
    each_part(
        dims, value.size, inner.data(), got.data(),
        [&](ConstantPadding& p, const void* from, void* to) {
          REQUIRE(std::int64_t{p.n} <= reach.elements);
          REQUIRE(static_cast<std::size_t>(p.dims) <= reach.dims);
          pad_on_host(p, value.size, value.bytes, from, to);
        },
        reach);
    REQUIRE(got == want);
  }
}
