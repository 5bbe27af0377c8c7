// Results larger than caches (Note [Streamed results], aten/native/support/streamed.h).
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/support/streamed.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

namespace {

using at::native::kStreamedBytes;
using at::native::ResultStream;

// op on operands whose result is streamed, and on their pieces, whose results are not.
void same_as_in_pieces(
    const std::vector<at::Tensor>& inputs, const std::function<at::Tensor(const std::vector<at::Tensor>&)>& op) {
  const at::Tensor whole = op(inputs);
  REQUIRE(static_cast<int64_t>(whole.nbytes()) >= kStreamedBytes);
  constexpr int64_t kPieces = 7;
  const int64_t rows = whole.size(0), step = rows / kPieces + 1;
  for (int64_t first = 0; first < rows; first += step) {
    std::vector<at::Tensor> pieces;
    for (const at::Tensor& input : inputs) {
      pieces.push_back(
          input.dim() == whole.dim() && input.size(0) == rows ? input.narrow(0, first, std::min(step, rows - first))
                                                              : input);
    }
    const at::Tensor piece = op(pieces);
    REQUIRE(static_cast<int64_t>(piece.nbytes()) < kStreamedBytes);
    CHECK(whole.narrow(0, first, piece.size(0)).equal(piece));
  }
}

} // namespace

TEST_CASE("streamed blocks of every place and length are copies", "[streamed]") {
  std::vector<unsigned char> from(400), to(from.size());
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  for (size_t place = 0; place < 67; ++place) {
    for (size_t source = 0; source < 3; ++source) {
      for (size_t bytes = 0; bytes < 300; bytes += bytes < 140 ? 1 : 37) {
        std::fill(to.begin(), to.end(), static_cast<unsigned char>(0));
        {
          const ResultStream stream;
          ResultStream::write(to.data() + place, from.data() + source, static_cast<int64_t>(bytes));
        }
        const bool same = std::memcmp(to.data() + place, from.data() + source, bytes) == 0;
        const auto written =
            to.size() - static_cast<size_t>(std::count(to.begin(), to.end(), static_cast<unsigned char>(0)));
        REQUIRE(same);
        REQUIRE(
            written ==
            static_cast<size_t>(std::count_if(
                from.begin() + static_cast<long>(source), from.begin() + static_cast<long>(source + bytes),
                [](unsigned char x) { return x != 0; })));
      }
    }
  }
}

TEST_CASE("large results have the values of their pieces", "[streamed]") {
  const int64_t n = kStreamedBytes / 4 + 1027;
  const at::Tensor x = at::randn({n + 1}), y = at::rand({n});
  const at::Tensor odd = x.narrow(0, 1, n); // no line of it begins where one of y does
  same_as_in_pieces({odd, y}, [](const auto& t) { return t[0] + t[1]; });
  same_as_in_pieces({odd}, [](const auto& t) { return t[0] * 3 + 1; });
  same_as_in_pieces({odd}, [](const auto& t) { return t[0].to(at::kDouble); });
  same_as_in_pieces({odd}, [](const auto& t) { return t[0].clone(); });
  same_as_in_pieces({odd.narrow(0, 0, n / 1024 * 1024).view({-1, 1024}), y.narrow(0, 0, 1024)}, [](const auto& t) {
    return t[0] - t[1];
  });
  same_as_in_pieces({y.narrow(0, 0, n / 36 * 36).view({-1, 36}), y.narrow(0, 0, 36)}, [](const auto& t) {
    return t[0].maximum(t[1]);
  });
  const at::Tensor grid = y.narrow(0, 0, 2996 * 2800).view({2996, 2800});
  same_as_in_pieces(
      {grid, y.narrow(0, 0, 2996 * 2800).view({2800, 2996}).t()}, [](const auto& t) { return t[0] * t[1]; });
  same_as_in_pieces({grid, grid}, [](const auto& t) { return at::cat({t[0], t[1]}, 1); });
}

TEST_CASE("large results of small types, into outputs and in place", "[streamed]") {
  const int64_t n = kStreamedBytes + 5;
  const at::Tensor bytes = at::randint(0, 255, {n}, at::kByte);
  same_as_in_pieces({bytes}, [](const auto& t) { return t[0] > 100; });
  same_as_in_pieces({bytes}, [](const auto& t) { return t[0] + t[0]; });
  const at::Tensor half = bytes.narrow(0, 0, n / 2 + 9).to(at::kBFloat16);
  same_as_in_pieces({half}, [](const auto& t) { return t[0] * 0.1; });

  const at::Tensor x = at::randn({n / 4 + 3});
  at::Tensor out = at::zeros({n / 4 + 4}).narrow(0, 1, n / 4 + 3);
  at::add_out(out, x, x);
  CHECK(out.equal(x * 2));
  at::Tensor same = x.clone();
  same.add_(x);
  CHECK(same.equal(out));
  at::Tensor shifted = x.clone();
  shifted.narrow(0, 1, n / 4 + 2).copy_(shifted.narrow(0, 0, n / 4 + 2).clone());
  CHECK(shifted.narrow(0, 1, n / 4 + 2).equal(x.narrow(0, 0, n / 4 + 2)));
}
