// What libtorch refuses, allows and warns at where options, indices and storages do not quite fit.
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace {

using Catch::StartsWith;
using torch::indexing::Slice;

/// Collects warnings while it lives.
class Warnings : public c10::WarningHandler {
 public:
  Warnings() : before_(c10::WarningUtils::get_warning_handler()) {
    c10::WarningUtils::set_warning_handler(this);
  }
  ~Warnings() override {
    c10::WarningUtils::set_warning_handler(before_);
  }
  void process(const c10::Warning& warning) override {
    texts.push_back(warning.msg());
  }
  std::vector<std::string> texts;

 private:
  c10::WarningHandler* before_;
};

} // namespace

TEST_CASE("functions of namespace at refuse requires_grad where libtorch does", "[rules]") {
  const auto options = at::TensorOptions().requires_grad(true);
  const at::Tensor x = at::arange(6, at::kFloat).view({2, 3});
  const auto refused =
      StartsWith("Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set as true");
  CHECK_THROWS_WITH(at::empty({2}, options), refused);
  CHECK_THROWS_WITH(at::empty_like(x, options), refused);
  CHECK_THROWS_WITH(at::zeros_like(x, options), refused);
  CHECK_THROWS_WITH(at::rand_like(x, options), refused);
  CHECK_THROWS_WITH(x.to(options), refused);
  CHECK_FALSE(at::empty({2}, options.requires_grad(false)).requires_grad());
  // Where there is no memory format it is dropped, but for memory of the caller's.
  CHECK_FALSE(at::zeros({2}, options).requires_grad());
  CHECK_FALSE(x.new_zeros({2}, options).requires_grad());
  float data[2] = {1, 2};
  CHECK(at::from_blob(data, {2}, options).requires_grad());
  CHECK(torch::empty({2}, options).requires_grad());
  CHECK(torch::zeros_like(x, options).requires_grad());
}

TEST_CASE("a memory format stands in one place", "[rules]") {
  const auto options = at::TensorOptions().memory_format(at::MemoryFormat::ChannelsLast);
  const auto refused = StartsWith("Cannot set memory_format both in TensorOptions and explicit argument");
  CHECK_THROWS_WITH(at::empty({1, 2, 2, 2}, options, at::MemoryFormat::Contiguous), refused);
  CHECK_THROWS_WITH(torch::empty({1, 2, 2, 2}, options, at::MemoryFormat::Contiguous), refused);
  CHECK(at::empty({1, 2, 2, 2}, options).is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST_CASE("values of another dtype are converted into slices, not into chosen places", "[rules]") {
  const at::Tensor x = at::arange(6, at::kFloat).view({2, 3}), rows = at::tensor({0, 1}, at::kLong), mask = x > 2;
  const at::Tensor longs = at::ones({3}, at::kLong);
  const auto refused = StartsWith(
      "Index put requires the source and destination dtypes match, got Float for the destination and Long for the "
      "source.");
  CHECK_THROWS_WITH(x.clone().index_put_({rows}, longs), refused);
  CHECK_THROWS_WITH(x.clone().index_put_({mask}, longs), refused);
  CHECK(torch::equal(x.clone().index_put_({0}, longs), torch::tensor({{1.f, 1.f, 1.f}, {3.f, 4.f, 5.f}})));
  CHECK(torch::equal(
      x.clone().index_put_({Slice(), 1}, at::ones({2}, at::kDouble)),
      torch::tensor({{0.f, 1.f, 2.f}, {3.f, 1.f, 5.f}})));
  CHECK(torch::equal(x.clone().index_put_({true}, longs), at::ones({2, 3})));
  CHECK(torch::equal(x.clone().index_put_({false}, longs), x));
  // Numbers are, and one number for the places of a mask.
  CHECK(torch::equal(
      x.clone().index_put_({mask}, at::scalar_tensor(7, at::kLong)),
      torch::tensor({{0.f, 1.f, 2.f}, {7.f, 7.f, 7.f}})));
  CHECK(torch::equal(x.to(at::kLong).index_put_({rows}, 7.5), at::full({2, 3}, 7, at::kLong)));
}

TEST_CASE("expanded targets: warned at, filled once", "[rules]") {
  const auto expanded = [] { return at::arange(3, at::kFloat).unsqueeze(0).expand({2, 3}); };
  const at::Tensor src = at::full({2, 3}, 5.f), mask = torch::tensor({{true, false, false}, {false, false, true}});
  Warnings warnings;
  at::Tensor x = expanded();
  c10::List<std::optional<at::Tensor>> rows;
  rows.push_back(at::tensor({0, 1}, at::kLong));
  x.index_put_(rows, src, /*accumulate=*/true);
  CHECK(torch::equal(x[0], torch::tensor({10.f, 11.f, 12.f})));
  REQUIRE(warnings.texts.size() == 1);
  CHECK_THAT(warnings.texts[0], StartsWith("Use of index_put_ on expanded tensors is deprecated."));
  x = expanded();
  x.masked_fill_(mask, 9);
  CHECK(torch::equal(x, torch::tensor({{9.f, 1.f, 9.f}, {9.f, 1.f, 9.f}})));
  x = expanded();
  x.masked_fill_(mask[0], at::scalar_tensor(8.f));
  CHECK(torch::equal(x[1], torch::tensor({8.f, 1.f, 2.f})));
  REQUIRE(warnings.texts.size() == 3);
  CHECK_THAT(warnings.texts[2], StartsWith("Use of masked_fill_ on expanded tensors is deprecated."));
  x = expanded();
  x.index_fill_(1, at::tensor({0, -1}, at::kLong), 6);
  CHECK(torch::equal(x, torch::tensor({{6.f, 1.f, 6.f}, {6.f, 1.f, 6.f}})));
  x.index_fill_(0, at::tensor({1}, at::kLong), at::scalar_tensor(4.f));
  CHECK(torch::equal(x, at::full({2, 3}, 4.f)));
  x.index_fill_(0, at::empty({0}, at::kLong), 3);
  CHECK(torch::equal(x, at::full({2, 3}, 4.f)));
  REQUIRE(warnings.texts.size() == 6);
  CHECK_THAT(warnings.texts[5], StartsWith("Use of index_fill_ on expanded tensors is deprecated."));
  CHECK_THROWS_WITH(
      expanded().index_fill_(0, at::tensor({2}, at::kLong), 3),
      StartsWith("index 2 is out of bounds for dimension 0 with size 2"));
  CHECK_THROWS_WITH(expanded().add_(1), StartsWith("unsupported operation: more than one element"));
}

TEST_CASE("set_ keeps its dtype and reads the bytes of another", "[rules]") {
  const at::Tensor source = at::ones({2}, at::kDouble);
  at::Tensor x = at::zeros({3});
  x.set_(source);
  CHECK(x.scalar_type() == at::kFloat);
  CHECK(torch::equal(x, torch::tensor({0.f, 1.875f})));
  // The storage grows for wider numbers.
  at::Tensor wide = at::zeros({1}, at::kDouble);
  wide.set_(at::zeros({3}));
  CHECK(wide.sizes() == at::IntArrayRef({3}));
  CHECK(wide.storage().nbytes() == 24);
}
