// Memory order of indexing results, out arguments, elements that share memory, padding against its definition.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/TensorIndexing.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>

#include "test/support/matchers.h"

using at::Tensor;
using at::indexing::Slice;
using test::EqualsTensor;
using test::Says;

namespace {

Tensor counted(at::IntArrayRef sizes) {
  int64_t numel = 1;
  for (const int64_t size : sizes) {
    numel *= size;
  }
  return at::arange(numel, at::kFloat).view(sizes);
}

Tensor longs(std::initializer_list<int64_t> values) {
  const Tensor result = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), result.mutable_data_ptr<int64_t>());
  return result;
}

} // namespace

TEST_CASE("the result of index lies in memory in the order of self", "[index]") {
  const Tensor plain = counted({4, 5, 3});
  const Tensor turned = counted({3, 5, 4}).permute({2, 1, 0}); // strides 1, 4, 20
  const Tensor index = longs({2, 0});

  SECTION("one index where self is contiguous") {
    CHECK(plain.index({index}).strides() == at::IntArrayRef({15, 3, 1}));
    CHECK(plain.index({Slice(), index}).strides() == at::IntArrayRef({6, 3, 1}));
  }
  SECTION("the dimensions around the index keep the order they had") {
    const Tensor got = turned.index({index});
    CHECK(got.sizes() == at::IntArrayRef({2, 5, 3}));
    CHECK(got.strides() == at::IntArrayRef({15, 1, 5}));
    for (int64_t i = 0; i < 2; ++i) {
      CHECK_THAT(got[i], EqualsTensor(turned[index[i].item<int64_t>()].contiguous()));
    }
  }
  SECTION("indices that are apart bring their dimension to the front") {
    const Tensor got = plain.index({index, Slice(), longs({1, 2})});
    CHECK(got.sizes() == at::IntArrayRef({2, 5}));
    CHECK_THAT(got[0], EqualsTensor(plain.select(0, 2).select(1, 1).contiguous()));
    CHECK_THAT(got[1], EqualsTensor(plain.select(0, 0).select(1, 2).contiguous()));
  }
}

TEST_CASE("out arguments of indexing must have self's dtype and memory of their own", "[index]") {
  const Tensor self = counted({3, 4});
  const Tensor rows = longs({2, 1, 0});
  Tensor same = self.clone();
  Tensor wide = at::empty({0}, at::kDouble);

  CHECK_THROWS_MATCHES(
      at::index_select_out(wide, self, 0, rows), c10::Error,
      Says("index_select(): self and result must have the same scalar type"));
  CHECK_THROWS_MATCHES(
      at::take_out(wide, self, rows), c10::Error,
      Says("take(): self and out expected to have the same dtype, but got self.dtype = Float and out.dtype = Double"));
  CHECK_THROWS_MATCHES(
      at::index_select_out(same, same, 0, rows), c10::Error,
      Says("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
           "memory location"));
  CHECK_THROWS_MATCHES(at::masked_select_out(same, same, same > 2), c10::Error, Says("unsupported operation"));
  CHECK_THAT(same, EqualsTensor(self));
}

TEST_CASE("what is written at an index comes from other memory", "[index]") {
  const Tensor all = longs({3, 2, 1, 0});
  Tensor self = counted({4});
  Tensor memory = counted({8});
  const auto refuses = [](const auto& call) {
    CHECK_THROWS_MATCHES(call(), c10::Error, Says("refer to a single memory location"));
  };

  refuses([&] { self.scatter_(0, all, self); });
  refuses([&] { self.scatter_(0, all, self, "add"); });
  refuses([&] { self.scatter_add_(0, all, self); });
  refuses([&] { self.scatter_reduce_(0, all, self, "amax"); });
  refuses([&] { self.index_add_(0, all, self); });
  refuses([&] { self.index_copy_(0, all, self); });
  refuses([&] { self.index_reduce_(0, all, self, "prod"); });
  refuses([&] { self.index_put_({all}, self); });
  refuses([&] { self.index_put_({all}, self[1]); });
  refuses([&] { self.put_(all, self); });
  refuses([&] { at::gather_out(self, self, 0, all); });
  refuses([&] { at::scatter_out(self, counted({4}), 0, all, self); });
  refuses([&] { memory.slice(0, 0, 4).scatter_(0, all, memory.slice(0, 2, 6)); });
  refuses([&] { memory.slice(0, 0, 4).index_put_({all}, memory.slice(0, 2, 6)); });
  Tensor places = longs({0, 1});
  refuses([&] { places.scatter_(0, places, 7); });
  refuses([&] { places.index_put_({places}, longs({5, 6})); });
  CHECK_THAT(self, EqualsTensor(counted({4})));
  CHECK_THAT(memory, EqualsTensor(counted({8})));

  SECTION("another part of the same storage will do, and so will self where it is the start") {
    memory.slice(0, 0, 4).scatter_(0, all, memory.slice(0, 4));
    CHECK_THAT(memory.slice(0, 0, 4), EqualsTensor(memory.slice(0, 4).flip({0})));
    CHECK_THAT(
        at::scatter_out(self, self, 0, longs({0}), at::full({1}, 9.f)),
        EqualsTensor(at::cat({at::full({1}, 9.f), counted({4}).slice(0, 1)})));
  }
  SECTION("one number at the places of a mask is read first") {
    self.index_put_({self > 1}, self[1]);
    CHECK_THAT(self, EqualsTensor(at::ones({4}).index_fill(0, longs({0}), 0)));
  }
}

TEST_CASE("copy_ takes its own elements only where they stand, fill_ any of them", "[index]") {
  Tensor self = counted({4});
  CHECK_THROWS_MATCHES(self.copy_(self[3]), c10::Error, Says("refer to a single memory location"));
  CHECK_THROWS_MATCHES(
      self.slice(0, 1).copy_(self.slice(0, 0, 3)), c10::Error, Says("refer to a single memory location"));
  CHECK_THROWS_MATCHES(
      self.view({2, 2}).copy_(self.view({2, 2}).t()), c10::Error, Says("refer to a single memory location"));
  CHECK_THAT(self.copy_(self.view({4})), EqualsTensor(counted({4})));
  CHECK_THAT(self.fill_(self[3]), EqualsTensor(at::full({4}, 3.f)));
}

TEST_CASE("nonzero fills its output column by column when it had to be resized", "[index]") {
  const Tensor self = at::ones({2, 3});
  Tensor fresh = at::empty({0}, at::kLong);
  CHECK(at::nonzero_out(fresh, self).strides() == at::IntArrayRef({1, 6}));
  Tensor fitting = at::empty({6, 2}, at::kLong);
  CHECK(at::nonzero_out(fitting, self).strides() == at::IntArrayRef({2, 1}));
  CHECK_THAT(fresh, EqualsTensor(fitting));
  Tensor real = at::empty({0});
  CHECK_THROWS_MATCHES(
      at::nonzero_out(real, self), c10::Error,
      Says("nonzero: Expected out tensor to have scalar type Long but got scalar typeFloat"));
}

TEST_CASE("filling takes tensors whose elements share memory, other writing does not", "[index]") {
  Tensor shared = at::zeros({3}).as_strided({2, 3, 4}, {0, 1, 0});
  shared.fill_(3);
  CHECK(shared.sum().item<float>() == 72);
  shared.tril_();
  CHECK(shared.sum().item<float>() == 0);
  CHECK_THROWS_MATCHES(
      shared.add_(1), c10::Error,
      Says("more than one element of the written-to tensor refers to a single memory location"));
}

TEST_CASE("an input inside the output is read as it is when its turn comes", "[index]") {
  // Rows lie side by side in memory: the first one is zero by the time the second is reached.
  Tensor self = at::ones({12, 2}).t();
  self.sub_(self[0]);
  CHECK(self[0].sum().item<float>() == 0);
  CHECK(self[1].sum().item<float>() == 12);
}

TEST_CASE("indices and values may not lie in the tensor that is written to", "[index]") {
  const auto refuses = Says("refer to a single memory location");
  Tensor x = longs({3, 0, 1, 2});
  CHECK_THROWS_MATCHES(x.index_put_({x}, longs({1000000, 1, 2, 3})), c10::Error, refuses);
  CHECK_THROWS_MATCHES(x.index_put_({longs({0, 1, 2})}, x.slice(0, 0, 3), /*accumulate=*/true), c10::Error, refuses);
  CHECK_THAT(x, EqualsTensor(longs({3, 0, 1, 2})));
}

TEST_CASE("long indices are worked out in blocks", "[index]") {
  const Tensor table = counted({50, 40});
  const Tensor rows = at::arange(3000, at::kLong).remainder(50).view({60, 50}),
               cols = at::arange(50, at::kLong).remainder(40).sub(40);
  const Tensor want = table.flatten().index_select(0, (rows * 40 + cols.add(40)).flatten()).view({60, 50});
  CHECK_THAT(table.index({rows, cols}), EqualsTensor(want));
  CHECK_THAT(table.t().index({cols, rows}), EqualsTensor(want));
  // Whole rows, written and added.
  const Tensor order = at::arange(2000, at::kLong).remainder(50), values = at::ones({2000, 40});
  CHECK_THAT(table.index_put({order}, values, /*accumulate=*/true), EqualsTensor(table + 40));
  CHECK_THAT(table.index_put({order}, table.index({order}) + 1), EqualsTensor(table + 1));
  CHECK(at::zeros({50, 40}, at::kBool).index_put({order}, values.to(at::kBool), true).all().item<bool>());
  CHECK_THROWS_MATCHES(
      table.index({at::cat({order, longs({50})}), at::zeros({2001}, at::kLong)}), c10::Error,
      Says("index 50 is out of bounds for dimension 0 with size 50"));
}

TEST_CASE("indices of one element are integers or masks", "[index]") {
  const Tensor self = counted({3, 2});
  CHECK_THAT(self.index({at::scalar_tensor(2, at::kLong)}), EqualsTensor({4, 5}));
  CHECK(self.index({at::scalar_tensor(true, at::kBool)}).sizes() == at::IntArrayRef({1, 3, 2}));
  CHECK(self.index({at::scalar_tensor(0, at::kByte)}).sizes() == at::IntArrayRef({0, 3, 2}));
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kComplexFloat}) {
    const Tensor index = at::scalar_tensor(1, dtype);
    CHECK_THROWS_MATCHES(self.index({index}), c10::IndexError, Says("tensors used as indices must be long"));
    Tensor target = self.clone();
    CHECK_THROWS_MATCHES(target.index_put_({index}, 1), c10::IndexError, Says("tensors used as indices must be long"));
  }
}

TEST_CASE("columns are selected as they are gathered", "[index]") {
  const Tensor columns = longs({6, 0, 3, 3, 36, 5}).repeat({7}).narrow(0, 0, 41);
  for (const at::ScalarType dtype : {at::kByte, at::kShort, at::kFloat, at::kDouble, at::kComplexDouble}) {
    const Tensor rows = at::arange(600 * 37).remainder(251).view({600, 37}).to(dtype);
    const Tensor want = rows.gather(1, columns.expand({600, 41}));
    CHECK_THAT(rows.index_select(1, columns), EqualsTensor(want));
    CHECK_THAT(rows.index_select(1, columns.to(at::kInt)), EqualsTensor(want));
    CHECK_THAT(rows.t().contiguous().t().index_select(1, columns), EqualsTensor(want));
  }
}

TEST_CASE("an index that repeats itself over rows acts as one that is written out", "[index]") {
  const auto dtype = GENERATE(at::kFloat, at::kBFloat16, at::kLong, at::kByte, at::kDouble);
  const Tensor self = counted({6, 21}).remainder(5).to(dtype), src = counted({40, 21}).remainder(7).to(dtype);
  const Tensor column = at::arange(40, at::kLong).mul(7).remainder(6).unsqueeze(1);
  const Tensor expanded = column.expand({40, 21}), written = expanded.contiguous();
  CHECK_THAT(self.gather(0, expanded), EqualsTensor(self.gather(0, written)));
  CHECK_THAT(self.scatter(0, expanded, src), EqualsTensor(self.scatter(0, written, src)));
  CHECK_THAT(self.scatter_add(0, expanded, src), EqualsTensor(self.scatter_add(0, written, src)));
  CHECK_THAT(self.scatter(0, expanded, 3), EqualsTensor(self.scatter(0, written, 3)));
  for (const char* reduce : {"sum", "mean", "amax", "amin", "prod"}) {
    for (const bool include_self : {true, false}) {
      CHECK_THAT(
          self.scatter_reduce(0, expanded, src, reduce, include_self),
          EqualsTensor(self.scatter_reduce(0, written, src, reduce, include_self)));
    }
  }
  // Repeated over columns: the row of the index is what varies.
  const Tensor wide = at::arange(21, at::kLong).mul(5).remainder(21).unsqueeze(0).expand({6, 21});
  CHECK_THAT(self.gather(1, wide), EqualsTensor(self.gather(1, wide.contiguous())));
  CHECK_THAT(self.scatter_add(1, wide, self), EqualsTensor(self.scatter_add(1, wide.contiguous(), self)));
  CHECK_THAT(
      self.t().scatter_add(0, wide.t(), self.t()),
      EqualsTensor(self.t().scatter_add(0, wide.t().contiguous(), self.t())));
  CHECK_THROWS_MATCHES(
      self.gather(0, expanded.add(1)), c10::Error, Says("index 6 is out of bounds for dimension 0 with size 6"));
}

TEST_CASE("a vector is gathered at one place by many threads", "[index][threads]") {
  const int before = at::get_num_threads();
  at::set_num_threads(64);
  const Tensor room = at::full({80000}, 7.0f), self = counted({10});
  Tensor out = room.narrow(0, 0, 40000);
  at::gather_out(out, self, 0, longs({3}).expand({40000}));
  at::set_num_threads(before);
  CHECK_THAT(out, EqualsTensor(at::full({40000}, 3.0f)));
  CHECK_THAT(room.narrow(0, 40000, 40000), EqualsTensor(at::full({40000}, 7.0f)));
}

TEST_CASE("means of integers are exact and rounded down", "[index]") {
  const int64_t large = (int64_t{1} << 60) + 1;
  const Tensor places = longs({0, 0, 1, 1, 2, 2, 2});
  const Tensor values = longs({large, 2, -large, -2, -7, 5, 0});
  CHECK_THAT(
      at::zeros({3}, at::kLong).scatter_reduce(0, places, values, "mean", false),
      EqualsTensor(longs({large / 2 + 1, -large / 2 - 2, -1})));
  CHECK_THAT(
      at::zeros({3}, at::kLong).index_reduce(0, places, values, "mean", false),
      EqualsTensor(longs({large / 2 + 1, -large / 2 - 2, -1})));
}

TEST_CASE("stack and clone keep what memory looks like", "[index]") {
  const Tensor image = counted({2, 3, 4, 2}).contiguous(at::MemoryFormat::ChannelsLast);
  CHECK(at::stack({image, image}, 0).strides() == at::IntArrayRef({48, 24, 1, 6, 3}));
  const Tensor empty = at::empty({0}).as_strided({0, 3}, {2, 2});
  CHECK(empty.clone().strides() == at::IntArrayRef({2, 2}));
}

TEST_CASE("scatters of views leave self alone and keep its strides", "[index]") {
  const Tensor base = counted({4, 3});
  const Tensor self = base.t();
  const Tensor got = self.select_scatter(at::full({4}, -1.0), 0, 1);
  CHECK(got.strides() == self.strides());
  CHECK_THAT(got[1], EqualsTensor({-1, -1, -1, -1}));
  CHECK_THAT(got[0], EqualsTensor(self[0].contiguous()));
  CHECK_THAT(base, EqualsTensor(counted({4, 3})));
}

TEST_CASE("split copies go into a list of outputs", "[index]") {
  const Tensor self = counted({5});
  std::vector<Tensor> outs = {at::empty({0}), at::empty({0}), at::empty({0})};
  at::split_copy_out(outs, self, 2);
  CHECK_THAT(outs[1], EqualsTensor({2, 3}));
  CHECK_THAT(outs[2], EqualsTensor({4}));
  outs.pop_back();
  CHECK_THROWS_MATCHES(
      at::split_copy_out(outs, self, 2), c10::Error,
      Says("split_copy_out() expected an out= argument of size 3, got size 2"));
}

TEST_CASE("padding of channels_last images gives channels_last images", "[pad]") {
  const Tensor plain = counted({2, 3, 4, 5});
  const Tensor last = plain.contiguous(at::MemoryFormat::ChannelsLast);
  const std::vector<int64_t> widths = {1, 2, 0, 3};
  for (const char* mode : {"constant", "reflect", "replicate"}) {
    const Tensor got = at::pad(last, widths, mode);
    CHECK(got.is_contiguous(at::MemoryFormat::ChannelsLast));
    CHECK_THAT(got, EqualsTensor(at::pad(plain, widths, mode)));
  }
}

TEST_CASE("circular padding repeats what is left after a cut", "[pad]") {
  const Tensor row = counted({1, 1, 4});
  CHECK_THAT(at::pad(row, {2, 1}, "circular").view(-1), EqualsTensor({2, 3, 0, 1, 2, 3, 0}));
  CHECK_THAT(at::pad(row, {-1, 2}, "circular").view(-1), EqualsTensor({1, 2, 3, 1, 2}));
  CHECK_THAT(at::pad(row[0], {1, 0}, "circular").view(-1), EqualsTensor({3, 0, 1, 2, 3}));
}

TEST_CASE("embedding_bag says where its rows come from", "[embedding_bag]") {
  const Tensor table = counted({5, 2});
  const Tensor indices = longs({1, 2, 4, 3, 0});
  const Tensor offsets = longs({0, 2, 2});
  const auto [rows, bag, sizes, maxima] = at::_embedding_bag(table, indices, offsets, false, 2, false, {}, false, 2);
  CHECK_THAT(rows.view(-1), EqualsTensor({2, 3, 0, 0, 8, 9}));
  CHECK_THAT(bag, EqualsTensor({0, 0, 2, 2, 2}));
  CHECK_THAT(sizes, EqualsTensor({1, 0, 3}));
  CHECK_THAT(maxima.view(-1), EqualsTensor({1, 1, 0, 0, 4, 4}));
  CHECK(std::get<1>(at::_embedding_bag(table, indices, offsets)).numel() == 0);
}

TEST_CASE("gradients of embedding_bag go to the rows that were read", "[embedding_bag]") {
  const Tensor indices = longs({1, 1, 4, 3, 0});
  const Tensor offsets = longs({0, 2, 3});
  for (const int64_t mode : {0, 1}) {
    const Tensor table = counted({5, 2}).set_requires_grad(true);
    const Tensor rows = std::get<0>(at::embedding_bag(table, indices, offsets, false, mode, false, {}, false, 3));
    rows.sum().backward();
    const double twice = mode == 0 ? 2 : 1;
    CHECK_THAT(table.grad().select(1, 0).contiguous(), EqualsTensor({1, twice, 0, 0, 1}));
  }
}

TEST_CASE("combinations are counted before they are made", "[index]") {
  CHECK_THAT(at::combinations(longs({7, 8, 9}), 2).view(-1), EqualsTensor({7, 8, 7, 9, 8, 9}));
  CHECK(at::combinations(at::zeros({3}), 5).sizes() == at::IntArrayRef({0, 5}));
  CHECK_THROWS_MATCHES(
      at::combinations(at::zeros({100000}), 50000), c10::Error, Says("combinations: too many to hold"));
}
