#include <catch2/catch.hpp>

#include <ATen/ATen.h>
#include <ATen/TensorIterator.h>

#include <utility>
#include <vector>

using at::TensorIterator;
using at::TensorIteratorConfig;

namespace {

using Strides = std::vector<int64_t>;

at::Tensor filled(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return at::arange(count, at::TensorOptions(dtype)).reshape(sizes);
}

Strides strides_of_sum(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor out;
  const auto iter = TensorIterator::borrowing_binary_op(out, a, b);
  return iter.output().strides().vec();
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

} // namespace

TEST_CASE("contiguous operands become one dimension", "[iterator]") {
  const at::Tensor a = filled({2, 3, 4}), b = filled({2, 3, 4});
  at::Tensor out;
  const auto iter = TensorIterator::borrowing_binary_op(out, a, b);
  CHECK(iter.ndim() == 1);
  CHECK(iter.numel() == 24);
  CHECK(iter.is_contiguous());
  CHECK(iter.output().sizes().vec() == Strides{2, 3, 4});
  CHECK(iter.common_dtype() == at::kFloat);
}

TEST_CASE("broadcast dimensions have stride 0", "[iterator]") {
  const at::Tensor a = filled({3, 1}), b = filled({1, 4});
  at::Tensor out;
  const auto iter = TensorIterator::borrowing_binary_op(out, a, b);
  REQUIRE(iter.ndim() == 2);
  CHECK(iter.shape().vec() == Strides{4, 3});
  CHECK(iter.strides(1).vec() == Strides{0, 4});
  CHECK(iter.strides(2).vec() == Strides{4, 0});
}

TEST_CASE("outputs take the layout of their inputs", "[iterator]") {
  const at::Tensor a = filled({2, 3, 4});
  CHECK(strides_of_sum(a.transpose(0, 2), a.transpose(0, 2)) == Strides{1, 4, 12});
  CHECK(strides_of_sum(a.transpose(0, 2), filled({4, 3, 2})) == Strides{1, 4, 12});
  CHECK(strides_of_sum(filled({4, 3, 2}), a.transpose(0, 2)) == Strides{6, 2, 1});
  CHECK(strides_of_sum(filled({2, 3}).t(), filled({2})) == Strides{1, 3});
  const at::Tensor image = filled({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  CHECK(strides_of_sum(image, image) == Strides{60, 1, 15, 3});
  CHECK(strides_of_sum(image, filled({3, 1, 1})) == Strides{60, 1, 15, 3});
}

TEST_CASE("dtypes are promoted by rank and kind", "[iterator]") {
  const auto common = [](const at::Tensor& a, const at::Tensor& b) {
    at::Tensor out;
    return TensorIterator::borrowing_binary_op(out, a, b).common_dtype();
  };
  const at::Tensor i32 = filled({2}, at::kInt), i64 = filled({2}, at::kLong), u8 = filled({2}, at::kByte);
  const at::Tensor f32 = filled({2}), f64_scalar = at::scalar_tensor(1.0, at::kDouble);
  CHECK(common(i32, i64) == at::kLong);
  CHECK(common(u8, filled({2}, at::kChar)) == at::kShort);
  CHECK(common(i64, f32) == at::kFloat);
  CHECK(common(f32, f64_scalar) == at::kFloat);
  CHECK(common(i64, f64_scalar) == at::kDouble);
  CHECK(common(i32, at::scalar_tensor(1, at::kLong)) == at::kInt);
  CHECK(common(filled({2}, at::kHalf), filled({2}, at::kBFloat16)) == at::kFloat);
}

TEST_CASE("a number is an operand without a tensor", "[iterator]") {
  const at::Tensor a = filled({5}, at::kInt);
  at::Tensor out;
  auto iter = TensorIteratorConfig()
                  .add_output(out)
                  .add_const_input(a)
                  .add_scalar_input(2.5)
                  .promote_inputs_to_common_dtype(true)
                  .build();
  CHECK(iter.common_dtype() == at::kFloat);
  CHECK(iter.scalar_value<double>(2) == 2.5);
  CHECK(iter.strides(2)[0] == 0);
  CHECK(iter.is_cpu_scalar(2));
  // Copies keep their own value.
  TensorIterator copy(iter);
  CHECK(copy.data_ptr(2) != iter.data_ptr(2));
  CHECK(copy.scalar_value<float>(2) == 2.5f);
}

TEST_CASE("shapes, dtypes and memory that do not fit are refused", "[iterator]") {
  at::Tensor a = filled({3, 3}), b = filled({3, 4});
  CHECK_THAT(
      message_of([&] { TensorIterator::binary_op(a, a, b); }),
      Catch::StartsWith("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"));
  at::Tensor ints = filled({3}, at::kLong);
  const at::Tensor floats = filled({3});
  CHECK_THAT(
      message_of([&] { TensorIterator::binary_op(ints, ints, floats); }),
      Catch::StartsWith("result type Float can't be cast to the desired output type Long"));
  at::Tensor small = filled({1, 3});
  CHECK_THAT(
      message_of([&] { TensorIterator::binary_op(small, small, a); }),
      Catch::StartsWith("output with shape [1, 3] doesn't match the broadcast shape [3, 3]"));
  at::Tensor base = filled({6});
  at::Tensor head = base.slice(0, 0, 4);
  const at::Tensor tail = base.slice(0, 2, 6);
  CHECK_THAT(
      message_of([&] { TensorIterator::binary_op(head, tail, tail); }),
      Catch::StartsWith("unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                        "single memory location."));
  at::Tensor repeated = filled({1}).expand({4});
  CHECK_THAT(
      message_of([&] { TensorIterator::unary_op(repeated, repeated); }),
      Catch::StartsWith("unsupported operation: more than one element of the written-to tensor refers to a single "
                        "memory location."));
}

TEST_CASE("outputs of another dtype are cast at the end", "[iterator]") {
  const at::Tensor a = filled({3});
  at::Tensor out = at::empty({3}, at::kDouble);
  auto iter = TensorIterator::binary_op(out, a, a);
  CHECK(iter.dtype(0) == at::kFloat);
  iter.for_each([](char** data, const int64_t* strides, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<float*>(data[0] + i * strides[0]) = *reinterpret_cast<float*>(data[1] + i * strides[1]) + 0.5f;
    }
  });
  iter.cast_outputs();
  CHECK(out.data_ptr<double>()[2] == 2.5);
}

TEST_CASE("for_each visits every element once", "[iterator]") {
  const at::Tensor a = filled({3, 5, 7, 2}).permute({2, 0, 3, 1}).slice(0, 1, 6, 2);
  at::Tensor out = at::zeros(a.sizes(), at::kFloat);
  auto iter = TensorIteratorConfig().add_output(out).add_const_input(a).build();
  const int64_t numel = iter.numel();
  const auto loop = [](char** data, const int64_t* strides, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<float*>(data[0] + i * strides[0]) += *reinterpret_cast<float*>(data[1] + i * strides[1]);
    }
  };
  for (const int64_t cut : {int64_t{0}, int64_t{1}, int64_t{17}, numel - 1, numel}) {
    iter.serial_for_each(loop, at::Range(0, cut));
    iter.serial_for_each(loop, at::Range(cut, numel));
  }
  CHECK(at::equal(out, a * 5));
}

TEST_CASE("splitting for 32-bit indexing covers the iterator", "[iterator]") {
  const at::Tensor a = filled({8, 6});
  at::Tensor out = at::zeros({8, 6});
  auto iter = TensorIterator::unary_op(out, a);
  CHECK(iter.can_use_32bit_indexing());
  const auto first = iter.split(0);
  CHECK(first->numel() + iter.numel() == 48);
  CHECK(static_cast<char*>(iter.data_ptr(1)) - static_cast<char*>(first->data_ptr(1)) == 24 * 4);
}

TEST_CASE("a squashed dimension is left to the loop", "[iterator]") {
  at::Tensor rows = filled({3, 4});
  const at::Tensor factors = filled({3}) + 2, expected = rows * factors.unsqueeze(-1);
  auto iter = TensorIteratorConfig()
                  .resize_outputs(false)
                  .declare_static_shape(rows.sizes(), /*squash_dims=*/1)
                  .add_output(rows)
                  .add_owned_input(factors.unsqueeze(-1))
                  .build();
  CHECK(iter.numel() == 3);
  iter.for_each([step = rows.stride(1)](char** data, const int64_t* strides, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      auto* row = reinterpret_cast<float*>(data[0] + i * strides[0]);
      const float factor = *reinterpret_cast<const float*>(data[1] + i * strides[1]);
      for (int64_t k = 0; k < 4; ++k) {
        row[k * step] *= factor;
      }
    }
  });
  CHECK(at::equal(rows, expected));
  const auto declare = [&](at::IntArrayRef shape) {
    return message_of(
        [&] { TensorIteratorConfig().declare_static_shape(shape).add_output(rows).add_input(rows).build(); });
  };
  CHECK(declare({2, 4}).empty());
  CHECK(declare({3, 5}) == "output with shape [3, 4] doesn't match the broadcast shape [3, 5]");
  CHECK(declare({4}) == "output with shape [3, 4] doesn't match the broadcast shape [4]");
}

TEST_CASE("a reduction iterates kept and reduced dimensions", "[iterator]") {
  const at::Tensor a = filled({4, 300});
  at::Tensor out = at::zeros({4, 1});
  auto iter = TensorIterator::reduce_op(out, a);
  CHECK(iter.num_output_elements() == 4);
  iter.foreach_reduced_elt([](at::TensorIteratorBase& part) {
    part.serial_for_each(
        [](char** data, const int64_t* strides, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            *reinterpret_cast<float*>(data[0] + i * strides[0]) += *reinterpret_cast<float*>(data[1] + i * strides[1]);
          }
        },
        at::Range(0, part.numel()));
  });
  CHECK(out.data_ptr<float>()[0] == 299 * 300 / 2);
  CHECK(out.data_ptr<float>()[3] == 299 * 300 / 2 + 900 * 300);
}

TEST_CASE("operands that are dense along the other dimension are read tile by tile", "[iterator]") {
  // Sizes around those of tiles, elements of each width, beside dense, broadcast and strided operands.
  for (const auto dtype : {at::kByte, at::kShort, at::kFloat, at::kDouble, at::kComplexDouble, at::kBFloat16}) {
    for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{8, 64}, {17, 65}, {100, 300}, {33, 1025}}) {
      INFO(dtype << ", " << rows << " x " << cols);
      const at::Tensor turned = filled({cols, rows}).remainder(50).to(dtype).t(),
                       dense = filled({rows, cols}).remainder(60).to(dtype);
      const at::Tensor column = filled({rows, 1}).to(dtype),
                       strided = filled({rows, 2 * cols}).remainder(40).to(dtype).slice(1, 0, 2 * cols, 2);
      const at::Tensor copied = turned.contiguous();
      CHECK(at::equal(dense + turned, dense + copied));
      CHECK(at::equal(at::addcmul(column, turned, dense), at::addcmul(column, copied, dense)));
      CHECK(at::equal(at::addcmul(strided, dense, turned), at::addcmul(strided, dense, copied)));
      CHECK(at::equal(at::eq(dense, turned), at::eq(dense, copied)));
    }
  }
}

TEST_CASE("plain calls agree with those that an iterator is set up for", "[iterator]") {
  // A strided operand of the same values goes the long way.
  const auto strided = [](const at::Tensor& t) { return at::stack({t, t}, -1).select(-1, 0); };
  const c10::NoGradGuard no_grad;
  for (const auto dtype : {at::kByte, at::kInt, at::kHalf, at::kBFloat16, at::kFloat, at::kComplexFloat}) {
    for (const Strides& sizes :
         std::vector<Strides>{{}, {1}, {7}, {2, 3}, {1, 2, 3, 2}, {1, 2, 1, 2, 2}, {40, 40}, {0}}) {
      INFO(dtype << ", " << at::IntArrayRef(sizes));
      const at::Tensor a = filled(sizes).remainder(50).to(dtype), b = filled(sizes).remainder(7).add(1).to(dtype);
      const at::Tensor sum = at::add(a, b);
      CHECK(sum.scalar_type() == dtype);
      CHECK(sum.sizes() == a.sizes());
      CHECK(at::equal(sum, at::add(strided(a), b)));
      CHECK(at::equal(at::mul(a, 3), at::mul(strided(a), 3)));
      CHECK(at::equal(at::add(a, b, 2), at::add(a, strided(b), 2)));
      CHECK(at::mul(a, 3).scalar_type() == dtype);
      CHECK(at::equal(at::eq(a, b), at::eq(strided(a), b)));
      CHECK(at::eq(a, b).scalar_type() == at::kBool);
      CHECK(at::equal(at::neg(a), at::neg(strided(a))));
      CHECK(at::equal(at::addcmul(a, a, b), at::addcmul(a, strided(a), b)));
      at::Tensor changed = at::clone(a);
      CHECK(at::equal(changed.add_(b), sum));
      CHECK(changed._version() == 1);
      CHECK(at::equal(changed.mul_(3), at::mul(sum, 3)));
      CHECK(at::equal(changed.sub_(changed), at::zeros_like(a)));
      CHECK(at::equal(changed.add_(a).add_(changed.view(sizes)), at::add(a, a)));
      CHECK(at::equal(at::clone(a).addcmul_(a, b), at::addcmul(a, strided(a), b)));
    }
  }
  // Not plain: another dtype, a number that changes it, a number as a tensor, a kind that the kernel does not know.
  const at::Tensor ints = filled({3}, at::kInt), floats = filled({3});
  CHECK(at::add(ints, floats).scalar_type() == at::kFloat);
  CHECK(at::mul(ints, 0.5).scalar_type() == at::kFloat);
  CHECK(at::mul(floats, c10::complex<double>(0, 1)).scalar_type() == at::kComplexFloat);
  CHECK(at::add(ints, at::scalar_tensor(0.5)).scalar_type() == at::kFloat);
  CHECK(at::add(ints, 300).to(at::kByte).data_ptr<uint8_t>()[0] == 300 % 256);
  CHECK_THROWS_AS(at::add(floats, filled({2})), c10::Error);
  CHECK_THROWS_AS(at::bitwise_and(floats, floats), c10::Error);
  const at::Tensor transposed = filled({2, 3}).t();
  CHECK(at::equal(at::add(transposed, transposed), 2 * transposed.contiguous()));
  CHECK(at::add(transposed, transposed).stride(0) == 1);
}

TEST_CASE("dense tensors broadcast as those that an iterator is set up for step by step", "[iterator]") {
  const auto strided = [](const at::Tensor& t) { return at::stack({t, t}, -1).select(-1, 0); };
  const c10::NoGradGuard no_grad;
  const std::vector<std::pair<Strides, Strides>> shapes = {
      {{8, 8}, {8}},
      {{8, 8}, {8, 1}},
      {{5}, {7, 1}},
      {{2, 3, 4}, {3, 1}},
      {{2, 3, 4}, {2, 1, 4}},
      {{2, 3, 4}, {4}},
      {{1, 3, 1}, {2, 1, 5}},
      {{1, 1}, {1}},
      {{3, 1, 2}, {1, 4, 1}},
      {{70, 90}, {90}},
      {{70, 90}, {70, 1}},
      {{2, 1, 3, 1, 2}, {2, 4, 1, 2, 1}},
      {{6}, {}},
      {{0, 3}, {3}},
      {{2, 3, 4, 5, 6, 2}, {6, 1}},
      // More than a buffer, more than one thread's share, and long rows.
      {{1300, 7}, {7}},
      {{700, 33}, {700, 1}},
      {{700, 33}, {1, 33}},
      {{1200, 63}, {63}},
      {{33, 1000}, {1000}},
      {{9, 1}, {1, 900}}};
  for (const auto dtype : {at::kByte, at::kInt, at::kBFloat16, at::kFloat, at::kComplexFloat}) {
    for (const auto& [left, right] : shapes) {
      INFO(dtype << ", " << at::IntArrayRef(left) << " and " << at::IntArrayRef(right));
      const at::Tensor a = filled(left).remainder(50).to(dtype), b = filled(right).remainder(7).add(1).to(dtype);
      const at::Tensor sum = at::add(a, b);
      CHECK(sum.is_contiguous());
      CHECK(sum.scalar_type() == dtype);
      CHECK(at::equal(sum, at::add(strided(a), b)));
      CHECK(at::equal(at::sub(b, a), at::sub(b, strided(a))));
      CHECK(at::equal(at::ne(a, b), at::ne(strided(a), b)));
      CHECK(at::ne(a, b).scalar_type() == at::kBool);
      CHECK(at::equal(at::addcmul(a, b, a), at::addcmul(strided(a), b, a)));
      if (sum.sizes() == a.sizes()) {
        const auto version = a._version();
        CHECK(at::equal(at::clone(a).add_(b), sum));
        at::Tensor out = at::empty(left, a.options());
        CHECK(at::equal(at::add_out(out, a, b), sum));
        CHECK(a._version() == version);
      } else {
        CHECK_THROWS_AS(at::clone(a).add_(b), c10::Error);
      }
    }
  }
  CHECK_THROWS_AS(at::add(filled({3, 2}), filled({3})), c10::Error);
  // What others than the plain loop see of it.
  const at::Tensor rows = filled({3, 4}), row = filled({4});
  TensorIterator iter;
  iter.build_pointwise(nullptr, {rows, row});
  CHECK(iter.ntensors() == 3);
  CHECK(iter.shape().vec() == Strides{4, 3});
  CHECK(iter.strides(0).vec() == Strides{4, 16});
  CHECK(iter.strides(1).vec() == Strides{4, 16});
  CHECK(iter.strides(2).vec() == Strides{4, 0});
  iter.for_each([](char** data, const int64_t* strides, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<float*>(data[0] + i * strides[0]) =
          *reinterpret_cast<float*>(data[1] + i * strides[1]) * *reinterpret_cast<float*>(data[2] + i * strides[2]);
    }
  });
  CHECK(at::equal(iter.take_output(), rows * at::stack({row, row, row})));
  // An operand inside of the target.
  at::Tensor square = filled({4, 4});
  CHECK_THROWS_AS(square.add_(square.select(0, 1)), c10::Error);
}
