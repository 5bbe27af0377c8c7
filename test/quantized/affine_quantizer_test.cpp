// Quantizers by libtorch's names beside the operators that do the same.
#include <catch2/catch.hpp>

#include <ATen/native/quantized/AffineQuantizer.h>
#include <ATen/quantized/Quantizer.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using at::Tensor;

TEST_CASE("numbers are quantized one by one as by tensors", "[quantized]") {
  torch::manual_seed(0);
  const double scale = GENERATE(0.1, 1.0, 3.7e-3);
  const int64_t zero = GENERATE(int64_t{0}, int64_t{10}, int64_t{127});
  const Tensor x = torch::cat(
      {torch::randn({200}) * 200 * scale, torch::arange(-20, 20) * (0.5 * scale),
       torch::tensor({INFINITY, -INFINITY, NAN, 1e30F, -1e30F, 0.0F})});
  const auto check = [&]<class T>(T, at::ScalarType dtype) {
    const Tensor q = at::quantize_per_tensor(x, scale, zero, dtype);
    const Tensor back = q.dequantize();
    std::vector<T> many(static_cast<size_t>(x.numel()));
    at::native::quantize_vec<T>(scale, zero, x.data_ptr<float>(), many.data(), many.size());
    for (int64_t i = 0; i < x.numel(); ++i) {
      const T one = at::native::quantize_val<T>(scale, zero, x.data_ptr<float>()[i]);
      REQUIRE(one.val_ == q.data_ptr<T>()[i].val_);
      REQUIRE(many[static_cast<size_t>(i)].val_ == one.val_);
      REQUIRE(at::native::dequantize_val<T>(scale, zero, one) == back.data_ptr<float>()[i]);
    }
  };
  check(c10::qint8(), at::kQInt8);
  check(c10::quint8(), at::kQUInt8);
}

TEST_CASE("integers go from one scale to another", "[quantized]") {
  using at::native::requantize_from_int;
  using at::native::requantize_val;
  for (int integer = 0; integer < 256; ++integer) {
    const c10::quint8 from(static_cast<uint8_t>(integer));
    const float number = static_cast<float>(integer - 20) * 0.05F;
    const auto expected = at::native::quantize_val<c10::qint8>(0.11, -3, number);
    CHECK(requantize_val<c10::quint8, c10::qint8>(0.05, 20, 0.11, -3, from).val_ == expected.val_);
  }
  CHECK(requantize_from_int<c10::quint8>(0.5, 3, 5).val_ == 5); // 2.5 is rounded to 2
  CHECK(requantize_from_int<c10::quint8>(0.5, 3, 7).val_ == 7);
  CHECK(requantize_from_int<c10::quint8>(1.0, 0, 1000).val_ == 255);
  CHECK(requantize_from_int<c10::qint8>(1.0, 0, -1000).val_ == -128);
  CHECK(at::native::quantize_val_float_qparams(0.5F, 0.25F, 2.25F, 0, 15) == 4);
  CHECK(at::native::quantize_val_float_qparams(0.5F, 0.25F, 200, 0, 15) == 15);
}

TEST_CASE("quantized tensors lie over memory of one's own", "[quantized]") {
  std::vector<uint8_t> bytes(12);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  int deleted = 0;
  const auto deleter = [&](void* data) {
    CHECK(data == bytes.data());
    ++deleted;
  };
  {
    const Tensor q = at::from_blob_quantized_per_tensor_affine(bytes.data(), {3, 4}, deleter, 0.5F, 2, at::kQUInt8);
    CHECK(q.data_ptr() == bytes.data());
    CHECK(at::equal(q.dequantize(), (torch::arange(12).view({3, 4}) - 2) * 0.5));
    const Tensor turned =
        at::from_blob_quantized_per_tensor_affine(bytes.data(), {4, 3}, {1, 4}, deleter, 0.5F, 2, at::kQUInt8);
    CHECK(at::equal(turned.dequantize(), q.dequantize().t()));
    const Tensor scales = torch::tensor({0.5, 1.0, 2.0}), zeros = torch::tensor({0, 1, 2});
    const Tensor channels =
        at::from_blob_quantized_per_channel_affine(bytes.data(), {3, 4}, deleter, scales, zeros, 0, at::kQInt8);
    CHECK(at::equal(
        channels.dequantize(),
        (torch::arange(12).view({3, 4}) - zeros.view({3, 1})) * scales.view({3, 1}).to(at::kFloat)));
    CHECK(channels.q_per_channel_axis() == 0);
    CHECK(deleted == 0);
  }
  CHECK(deleted == 3);
  CHECK_THROWS_AS(
      at::from_blob_quantized_per_tensor_affine(bytes.data(), {12}, deleter, 0.5F, 300, at::kQUInt8), c10::Error);
  CHECK_THROWS_AS(
      at::from_blob_quantized_per_tensor_affine(bytes.data(), {12}, deleter, 0.5F, 0, at::kFloat), c10::Error);
  CHECK_THROWS_AS(
      at::from_blob_quantized_per_channel_affine(
          bytes.data(), {3, 4}, deleter, torch::ones({2}), torch::zeros({2}, at::kLong), 0, at::kQUInt8),
      c10::Error);
}

TEST_CASE("one integer is a number, and channels keep their order in memory", "[quantized]") {
  const Tensor q = at::quantize_per_tensor(torch::tensor({1.5, -0.25}), 0.25, 4, at::kQUInt8);
  CHECK(q[0].item<float>() == 1.5F);
  CHECK(q[1].item<double>() == -0.25);
  CHECK_THROWS_AS(q.item(), c10::Error);
  const Tensor x = torch::randn({2, 3, 4, 5}), scales = torch::rand({3}) + 0.1, zeros = torch::tensor({0, 3, -2});
  const Tensor plain = at::quantize_per_channel(x, scales, zeros, 1, at::kQInt8);
  const Tensor last =
      at::quantize_per_channel(x.contiguous(at::MemoryFormat::ChannelsLast), scales, zeros, 1, at::kQInt8);
  CHECK(plain.is_contiguous());
  CHECK(last.is_contiguous(at::MemoryFormat::ChannelsLast));
  CHECK(at::equal(last.int_repr(), plain.int_repr()));
  CHECK(last.dequantize().is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST_CASE("parts of quantized tensors are quantized", "[quantized]") {
  const Tensor q = at::quantize_per_tensor(torch::randn({2, 3, 4, 4}), 0.1, 60, at::kQUInt8);
  const Tensor integers = q.int_repr();
  const auto check = [&](const Tensor& part, const Tensor& expected) {
    REQUIRE(part.is_quantized());
    CHECK(part.q_scale() == 0.1);
    CHECK(part.q_zero_point() == 60);
    CHECK(at::equal(part.int_repr(), expected));
  };
  for (const auto& [parts, expected] :
       {std::pair(q.chunk(2, 3), integers.chunk(2, 3)),
        {q.split(2, 1), integers.split(2, 1)},
        {q.split_with_sizes({1, 2}, 1), integers.split_with_sizes({1, 2}, 1)},
        {q.unbind(2), integers.unbind(2)},
        {q.tensor_split(3, 2), integers.tensor_split(3, 2)}}) {
    REQUIRE(parts.size() == expected.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      check(parts[i], expected[i]);
    }
  }
  check(q.diagonal(0, 2, 3), integers.diagonal(0, 2, 3));
  check(q.repeat({2, 1, 1, 1}), integers.repeat({2, 1, 1, 1}));
  check(at::pixel_unshuffle(q, 2), at::pixel_unshuffle(integers, 2));
  check(at::pixel_shuffle(at::pixel_unshuffle(q, 2), 2), integers);
  q.chunk(2, 3)[0].copy_(torch::zeros({2, 3, 4, 2})); // they are views
  CHECK(at::equal(q.slice(3, 0, 2).int_repr(), torch::full({2, 3, 4, 2}, 60, at::kByte)));
  const Tensor mean = q.mean();
  CHECK(std::abs(mean.dequantize().item<float>() - q.dequantize().mean().item<float>()) < 0.06F);
  const Tensor channels = at::quantize_per_channel(
      torch::randn({4, 6}), torch::rand({4}) + 0.1, torch::zeros({4}, at::kLong), 0, at::kQInt8);
  CHECK(at::equal(channels.split(2, 1)[1].dequantize(), channels.dequantize().split(2, 1)[1]));
}

TEST_CASE("quantizers can be made and given to tensors", "[quantized]") {
  const auto quantizer = at::make_per_tensor_affine_quantizer(0.25, 3, at::kQInt8);
  Tensor q = at::new_qtensor({2, 3}, at::TensorOptions(at::kQInt8), quantizer);
  CHECK(q.q_scale() == 0.25);
  CHECK(q.q_zero_point() == 3);
  const Tensor x = torch::tensor({-1.0, 0.0, 0.25, 1.0, 2.0, 100.0}).view({2, 3});
  at::native::quantize_tensor_per_tensor_affine(x, q, 0.25, 3);
  CHECK(at::equal(q.int_repr(), at::quantize_per_tensor(x, 0.25, 3, at::kQInt8).int_repr()));
  Tensor numbers = torch::empty({2, 3});
  at::native::dequantize_tensor_per_tensor_affine(q, numbers, 0.5, 3);
  CHECK(at::equal(numbers, q.dequantize() * 2));
  at::set_quantizer_(q, at::make_per_tensor_affine_quantizer(0.5, 3, at::kQInt8));
  CHECK(at::equal(q.dequantize(), numbers));
  CHECK(at::get_qtensorimpl(q)->quantizer()->scale == 0.5);

  const Tensor scales = torch::tensor({0.5, 1.0}), zeros = torch::tensor({0, 1});
  Tensor channels = at::new_qtensor(
      {2, 3}, at::TensorOptions(at::kQInt8), at::make_per_channel_affine_quantizer(scales, zeros, 0, at::kQInt8));
  at::native::quantize_tensor_per_channel_affine(x, channels, scales, zeros, 0);
  CHECK(at::equal(channels.int_repr(), at::quantize_per_channel(x, scales, zeros, 0, at::kQInt8).int_repr()));
  at::native::dequantize_tensor_per_channel_affine(channels, numbers, scales, zeros, 0);
  CHECK(at::equal(numbers, channels.dequantize()));

  CHECK_THROWS_AS(at::get_qtensorimpl(x), c10::Error);
  CHECK_THROWS_AS(at::set_quantizer_(q, at::make_per_tensor_affine_quantizer(0.5, 3, at::kQUInt8)), c10::Error);
  CHECK_THROWS_AS(at::set_quantizer_(x, quantizer), c10::Error);
  CHECK_THROWS_AS(at::native::quantize_tensor_per_tensor_affine(x[0], q, 0.25, 3), c10::Error);
}
