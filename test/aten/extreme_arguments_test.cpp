// Arguments that once crashed an operator, hung it, or gave wrong values; test/fuzz found them.

#include <ATen/Functions.h>
#include <aten/ops/set__ops.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace {

using at::Tensor;

void call_boxed(const char* name, const char* overload, std::vector<c10::IValue> stack) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(stack);
}

Tensor numbers(at::IntArrayRef sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return at::arange(count, at::kFloat).reshape(sizes);
}

} // namespace

TEST_CASE("a dimension of a tensor without dimensions is refused", "[aten][hostile]") {
  const Tensor scalar = at::ones({});
  CHECK_THROWS_AS(at::tensordot(at::ones({3}), scalar, {-1}, {-1}), c10::IndexError);
  CHECK_THROWS_AS(at::gradient(scalar, at::Scalar(1), 0), c10::IndexError);
  CHECK_THROWS_AS(at::linalg_tensorsolve(scalar, at::ones({3}), at::IntArrayRef({0})), c10::IndexError);
}

TEST_CASE("integers that name no enumerator are refused", "[aten][hostile]") {
  for (const int64_t dtype : {int64_t{-2}, int64_t{1000}, INT64_MAX}) {
    CHECK_THROWS_AS(call_boxed("aten::cumprod", "", {at::ones({2}), 0, dtype}), c10::Error);
  }
  CHECK_THROWS_AS(call_boxed("aten::contiguous", "", {at::ones({2}), 77}), c10::Error);
}

TEST_CASE("sums do not go into dtypes that are only stored", "[aten][hostile]") {
  const Tensor x = at::ones({4});
  CHECK_THROWS_AS(at::sum(x, at::ScalarType::Float8_e4m3fn), c10::NotImplementedError);
  CHECK_THROWS_AS(at::nansum(x, 0, false, at::ScalarType::Float8_e5m2), c10::NotImplementedError);
  CHECK_THROWS_AS(at::prod(x, at::ScalarType::Float8_e4m3fn), c10::NotImplementedError);
  CHECK_THROWS_AS(at::mean(x, at::ScalarType::Float8_e4m3fn), c10::NotImplementedError);
}

TEST_CASE("a tensor without elements becomes no quantized one, whatever its strides", "[aten][hostile]") {
  for (const Tensor& x : {at::empty({0, 3}), at::empty({3, 0}).t(), at::empty({0, 6}).slice(1, 0, 6, 2)}) {
    CHECK_THROWS_AS(x.to(at::kQInt8), c10::NotImplementedError);
    CHECK_THROWS_AS(at::special_log_softmax(x, 0, at::kQInt8), c10::NotImplementedError);
    CHECK_THROWS_AS(at::softmax(x, 0, at::kQUInt8), c10::NotImplementedError);
  }
}

TEST_CASE("one tensor cannot be two outputs", "[aten][hostile]") {
  Tensor out = at::empty({0});
  const Tensor x = numbers({5, 3});
  CHECK_THROWS_WITH(
      call_boxed("aten::linalg_svd", "U", {x, true, c10::IValue(), out, out, out}),
      Catch::Contains("two outputs share memory"));
  CHECK(out.numel() == 0);
}

TEST_CASE("a result is not made where no argument has data", "[aten][hostile]") {
  const Tensor meta = at::empty({2}, at::TensorOptions().device(at::kMeta));
  CHECK_THROWS_WITH(at::bucketize(at::ones({3}), meta), Catch::Contains("same device"));
  Tensor out = at::empty({0}, at::kLong);
  CHECK_THROWS_WITH(at::bucketize_out(out, at::ones({3}), meta), Catch::Contains("same device"));
}

TEST_CASE("a call does not take hours for want of a bound", "[aten][hostile]") {
  constexpr int64_t kHuge = int64_t{1} << 40;
  CHECK(at::triu_indices(kHuge, 3).sizes() == at::IntArrayRef({2, 6}));
  CHECK(at::tril_indices(kHuge, 0).numel() == 0);
  CHECK(at::tril_indices(3, kHuge).sizes() == at::IntArrayRef({2, 6}));
  CHECK_THROWS_AS(at::tril_indices(INT64_MAX, INT64_MAX), c10::Error);
  CHECK(std::isinf(at::polygamma(kHuge, at::full({1}, 0.5)).item<double>()));
  CHECK(std::isnan(at::special_laguerre_polynomial_l(at::full({1}, 2.5), at::Scalar(kHuge)).item<double>()));
  CHECK(at::_adaptive_avg_pool2d(at::ones({0, 2, 2, 2}), {1, kHuge}).numel() == 0);
  const Tensor nothing = at::ones({0, 3, 3}).requires_grad_();
  at::replication_pad1d(nothing, {1, kHuge}).sum().backward();
  CHECK(nothing.grad().sizes() == nothing.sizes());
  CHECK_THROWS_AS(at::tensor_split(at::ones({3}), kHuge), c10::Error);
  CHECK_THROWS_AS(at::chunk(at::ones({0}), kHuge), c10::Error);
  CHECK_THROWS_AS(at::unsafe_chunk(at::ones({2, 0}), kHuge, 1), c10::Error);
}

TEST_CASE("a view cannot reach past the largest number", "[aten][hostile]") {
  const at::Tensor bytes = at::zeros({3}, at::kByte);
  const int64_t largest = std::numeric_limits<int64_t>::max();
  CHECK_THROWS_WITH(
      bytes.as_strided({2}, {largest}),
      Catch::Contains("Storage size calculation overflowed with sizes=[2] and strides=[9223372036854775807]"));
  CHECK_THROWS_AS(bytes.as_strided({1}, {1}, largest), c10::Error);
  CHECK_THROWS_AS(bytes.as_strided({2}, {1}, largest), c10::Error);
  CHECK_THROWS_AS(at::empty({0}, at::kByte).set_(bytes.storage(), largest, {1}, {1}), c10::Error);
}

TEST_CASE("a size that is guessed is no larger than the largest number", "[aten][hostile]") {
  const Tensor crow = at::arange(2), value = at::ones({1}), last = at::full({1}, INT64_MAX, at::kLong);
  CHECK_THROWS_AS(at::sparse_csr_tensor(crow, last, value, at::kSparseCsr), c10::Error);
  CHECK_THROWS_AS(at::sparse_bsr_tensor(crow, last / 2, at::ones({1, 1, 4}), at::kSparseBsr), c10::Error);
  CHECK_THROWS_AS(at::sparse_coo_tensor(last.reshape({1, 1}), value), c10::Error);
}

TEST_CASE("slices of a scalar are single elements", "[aten][hostile]") {
  const at::Tensor first = at::zeros({1}, at::kLong);
  CHECK_THROWS_AS(at::zeros({}).index_copy_(0, first, at::ones({1, 0, 17})), c10::Error);
  CHECK_THROWS_AS(at::zeros({}).index_add_(0, first, at::ones({1, 5})), c10::Error);
  CHECK_THROWS_AS(at::zeros({3, 2}).index_copy_(0, first, at::ones({})), c10::Error);
  CHECK(at::zeros({}).index_copy_(0, first, at::ones({1})).item<float>() == 1);
  CHECK(at::zeros({3}).index_copy_(0, first, at::ones({})).sum().item<float>() == 1);
}

TEST_CASE("one window may have any stride", "[aten][hostile]") {
  const at::Tensor image = at::arange(8, at::kFloat).view({1, 2, 4});
  const int64_t huge = std::numeric_limits<int64_t>::max() - 1;
  const at::Tensor one = at::im2col(image, {2, 2}, {1, 1}, {0, 1}, {1, 5});
  CHECK(one.equal(at::im2col(image, {2, 2}, {1, 1}, {0, 1}, {1, huge})));
  CHECK(at::col2im(one, {2, 4}, {2, 2}, {1, 1}, {0, 1}, {1, 5})
            .equal(at::col2im(one, {2, 4}, {2, 2}, {1, 1}, {0, 1}, {huge, huge})));
}

TEST_CASE("triangle indices count from any offset", "[aten][hostile]") {
  for (int64_t offset = -6; offset <= 6; ++offset) {
    const Tensor whole = at::ones({4, 5}, at::kLong);
    CHECK(at::equal(at::tril_indices(4, 5, offset), whole.tril(offset).nonzero().t()));
    CHECK(at::equal(at::triu_indices(4, 5, offset), whole.triu(offset).nonzero().t()));
  }
}

TEST_CASE("a window that overflows is a window of zeros and NaN", "[aten][hostile]") {
  const Tensor window = at::kaiser_window(5, false, 1e308);
  CHECK(window[0].item<double>() == 0);
  CHECK(std::isnan(window[2].item<double>()));
}

TEST_CASE("pooling without a batch does not see channels last", "[aten][hostile]") {
  // The strides of a batch of images in channels-last, but these are channels of volumes.
  const Tensor volumes = numbers({4, 3, 6, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const Tensor plain = volumes.contiguous();
  CHECK(at::equal(at::_adaptive_avg_pool3d(volumes, {2, 3, 2}), at::_adaptive_avg_pool3d(plain, {2, 3, 2})));
  CHECK(at::allclose(at::adaptive_avg_pool3d(volumes, {1, 1, 1}), at::adaptive_avg_pool3d(plain, {1, 1, 1})));
  CHECK(at::equal(at::avg_pool3d(volumes, 2), at::avg_pool3d(plain, 2)));
  CHECK(at::equal(at::max_pool3d(volumes, 2), at::max_pool3d(plain, 2)));
}

TEST_CASE("statistics without data that training does not use are refused beside data", "[aten][hostile]") {
  const Tensor x = numbers({1, 5}), per_channel = numbers({5});
  const auto backward = [&](const Tensor& running_mean) {
    at::native_batch_norm_backward(
        x, x, {}, running_mean, {}, per_channel, per_channel, true, 1e-5, {true, true, true});
  };
  CHECK_NOTHROW(backward(per_channel));
  CHECK_THROWS_WITH(backward(per_channel.to(at::kMeta)), Catch::Contains("on the same device"));
}

TEST_CASE("means of integers: the lowest by -1, and counts that 64 bits do not hold", "[aten][pool]") {
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const Tensor lowest = at::full({1, 3, 2, 2}, INT64_MIN, at::kLong).contiguous(format);
    CHECK(at::equal(at::avg_pool2d(lowest, 1, 1, 0, false, true, -1), lowest));
    CHECK(at::equal(at::avg_pool2d_backward(lowest, lowest, {1, 1}, {1, 1}, {0, 0}, false, true, -1), lowest));
    const int64_t far = int64_t{1} << 32;
    const Tensor mean = at::avg_pool2d(
        at::ones({1, 3, 2, 2}, at::kLong).contiguous(format), {far, far}, {far, far}, {far / 2, far / 2},
        /*ceil_mode=*/true);
    CHECK(at::equal(mean, at::zeros_like(mean)));
  }
}

TEST_CASE("a window far larger than the input takes no time", "[aten][hostile]") {
  const Tensor x = numbers({1, 1, 3}).requires_grad_();
  const Tensor mean =
      at::avg_pool1d(x, int64_t{1} << 61, 1, int64_t{1} << 60, /*ceil_mode=*/true, /*count_include_pad=*/false);
  CHECK(at::allclose(mean.select(2, 0), x.mean(2)));
  mean.select(2, 0).sum().backward();
  CHECK(at::allclose(x.grad(), at::full_like(x, 1.0 / 3)));
}

TEST_CASE("copies keep the strides of dimensions of one element", "[aten][hostile]") {
  const Tensor a = numbers({3}).as_strided({3, 1, 1}, {1, 3, 3});
  for (const Tensor& t :
       {at::empty_like(a), at::zeros_like(a), a.clone(), a.to(at::kDouble), a.to(at::kFloat, false, true)}) {
    CHECK(t.strides() == a.strides());
  }
}

TEST_CASE("results of permuted inputs", "[aten][hostile]") {
  const Tensor a = numbers({3, 2}).t();
  const Tensor b = numbers({4, 5}).t();
  CHECK(at::equal(at::kron(a, b), at::kron(a.contiguous(), b.contiguous())));
  Tensor out = at::empty({0}, at::kComplexFloat);
  CHECK(at::acosh_out(out, a).strides() == a.strides());
}

TEST_CASE("a wrapped diagonal stays inside a padded matrix", "[aten][hostile]") {
  const Tensor padded = at::zeros({11, 5});
  Tensor part = padded.narrow(1, 0, 3);
  part.fill_diagonal_(1, /*wrap=*/true);
  CHECK(at::equal(part, at::zeros({11, 3}).fill_diagonal_(1, /*wrap=*/true)));
  CHECK(padded.narrow(1, 3, 2).sum().item<double>() == 0);
}

TEST_CASE("gradients of a selection use the memory they own", "[aten][hostile]") {
  const Tensor mask = at::tensor({true, false, true, true});
  const Tensor grad = numbers({3}) + 1;
  CHECK(at::equal(at::masked_select_backward(grad, at::ones({4}), mask), at::tensor({1.0F, 0.0F, 2.0F, 3.0F})));
}

TEST_CASE("gates of a cell have their shape", "[aten][hostile]") {
  const Tensor x = at::ones({2, 3});
  CHECK_THROWS_WITH(
      at::_thnn_differentiable_gru_cell_backward(x, x, x.narrow(1, 0, 2), x, std::nullopt, std::nullopt),
      Catch::Contains("hidden_size"));
  CHECK_THROWS_WITH(
      at::_thnn_differentiable_gru_cell_backward(x, x, x, x, std::nullopt, at::ones({3})), Catch::Contains("bias"));
}

TEST_CASE("combinations of a huge size", "[errors]") {
  CHECK(at::combinations(at::ones({3}), INT64_MAX).sizes() == at::IntArrayRef({0, INT64_MAX}));
  CHECK_THROWS_AS(at::combinations(at::ones({3}), INT64_MAX, /*with_replacement=*/true), c10::Error);
  CHECK_THROWS_AS(at::combinations(at::ones({1}), int64_t{1} << 50, /*with_replacement=*/true), c10::Error);
  CHECK(at::combinations(at::arange(5), 4, true).size(0) == 70);
}

TEST_CASE("attention whose keys have no heads", "[errors]") {
  const at::Tensor query = at::ones({1, 4, 2, 8}), none = at::ones({1, 0, 2, 8});
  CHECK_THROWS_AS(at::scaled_dot_product_attention(query, none, none, {}, 0.0, false, std::nullopt, true), c10::Error);
}

TEST_CASE("a convolution of one window takes any stride", "[errors]") {
  const at::Tensor image = at::ones({1, 3, 1, 4}), weight = at::ones({3, 3, 1, 3});
  const at::Tensor result = at::conv2d(image, weight, {}, at::IntArrayRef({1, INT64_MAX}), at::IntArrayRef({0, 1}));
  CHECK(result.sizes() == at::IntArrayRef({1, 3, 1, 1}));
  CHECK(result.sum().item<double>() == 18);
}

TEST_CASE("transforms of more dimensions than a set of them holds", "[errors]") {
  std::vector<int64_t> sizes(66, 1);
  CHECK_THROWS_AS(at::fft_fftn(at::ones(sizes), {}, std::vector<int64_t>{65}), c10::Error);
}

TEST_CASE("windows of any size and step are counted or refused", "[errors]") {
  const at::Tensor image = at::ones({1, 1, 4, 4});
  CHECK_THROWS_AS(at::max_pool2d(image, 2, 1, INT64_MAX, 1, false), c10::Error);
  CHECK_THROWS_AS(at::max_pool2d(image, {INT64_MAX, INT64_MAX}, 1, 0, INT64_MAX, false), c10::Error);
  CHECK(at::max_pool2d(image, 2, INT64_MAX, 0, 1, true).sizes() == at::IntArrayRef({1, 1, 1, 1}));
  // A window that holds all, with a step of its own size.
  CHECK(at::equal(
      at::avg_pool2d(image, {2, INT64_MAX - 1}, {}, {1, 4}, true),
      at::avg_pool2d(image, {2, 100000}, {}, {1, 4}, true)));
}

TEST_CASE("a diagonal outside of any matrix is refused", "[errors]") {
  CHECK_THROWS_AS(at::diag_embed(at::ones({2}), INT64_MAX), c10::Error);
  CHECK_THROWS_AS(at::diag_embed(at::ones({2}), INT64_MIN), c10::Error);
}

TEST_CASE("indices whose sign is to be changed", "[aten][hostile]") {
  const at::Tensor index = at::_neg_view(at::tensor({-2, 0}));
  CHECK(at::equal(at::index(numbers({4}), {index}), at::tensor({2.0F, 0.0F})));
}

TEST_CASE("numbers whose sign is to be changed become bools", "[aten]") {
  at::Tensor flags = at::zeros({3}, at::kBool);
  flags.copy_(at::_neg_view(at::tensor({1.5F, 0.0F, -2.0F})));
  CHECK(at::equal(flags, at::tensor({1, 0, 1}).to(at::kBool)));
}

TEST_CASE("sums, products and running sums of integers wrap", "[aten]") {
  const at::Tensor big = at::tensor({INT64_MAX, int64_t{1}, int64_t{2}});
  CHECK(at::sum(big).item<int64_t>() == INT64_MIN + 2);
  CHECK(at::prod(big).item<int64_t>() == -2);
  CHECK(at::cumsum(big, 0)[1].item<int64_t>() == INT64_MIN);
  CHECK(at::cumprod(big, 0)[2].item<int64_t>() == -2);
}

TEST_CASE("counts whose product or sum overflows are refused", "[errors]") {
  CHECK_THROWS_AS(at::native_group_norm(at::ones({2, 4, 3}), {}, {}, 2, INT64_MAX - 1, INT64_MAX, 1, 1e-5), c10::Error);
  CHECK_THROWS_AS(at::repeat_interleave(at::tensor({INT64_MAX, int64_t{127}})), c10::Error);
  CHECK_THROWS_AS(at::repeat_interleave(at::ones({5, 2}), INT64_MAX - 1, -1), c10::Error);
  CHECK_THROWS_AS(at::ones({2, 3}).repeat({1, INT64_MAX / 2}), c10::Error);
  CHECK_THROWS_AS(at::fft_fftfreq(INT64_MAX), c10::Error);
  CHECK(at::slice_copy(at::ones({2, 3}), 1, {}, {}, INT64_MAX).sizes() == at::IntArrayRef({2, 1}));
}

TEST_CASE("bools that a view made of other bytes are true", "[aten]") {
  const at::Tensor made = at::tensor({200, 0, 1}).to(at::kByte).view(at::kBool);
  CHECK(at::equal(made.to(at::kFloat), at::tensor({1.0F, 0.0F, 1.0F})));
}

TEST_CASE("a storage is set where there are both, it and the tensor", "[errors]") {
  at::Tensor none, x = at::ones({2});
  CHECK_THROWS_AS(at::_ops::set__source_Storage::call(none, x.storage()), c10::Error);
  CHECK_THROWS_AS(at::_ops::set__source_Storage::call(x, c10::Storage()), c10::Error);
  CHECK_THROWS_AS(at::_ops::set__source_Storage_storage_offset::call(x, c10::Storage(), 0, {2}, {1}), c10::Error);
}

TEST_CASE("sizes of parts and windows, and numbers of dimensions, that overflow are refused", "[errors]") {
  const at::Tensor x = at::ones({2, 3});
  CHECK_THROWS_AS(at::unflatten(x, 1, {3, int64_t{1} << 62, 4}), c10::Error);
  CHECK_THROWS_AS(at::unfold_backward(at::ones({1, 2, 3}), {1, 2, 3}, 0, INT64_MIN + 1, 3), c10::Error);
  at::Tensor coo = x.to_sparse(), csr = x.to_sparse_csr();
  CHECK_THROWS_AS(coo.sparse_resize_and_clear_({2, 3}, 3, INT64_MAX - 1), c10::Error);
  CHECK_THROWS_AS(csr.sparse_resize_and_clear_({2, 3}, 2, INT64_MAX), c10::Error);
}

TEST_CASE("lists and working memory beyond any memory are refused as such", "[errors]") {
  // 2^50 entries are more than an address has bits for, 2^62 more than a list may have.
  for (const int64_t length : {int64_t{1} << 50, int64_t{1} << 62}) {
    const Tensor wide = at::ones({1}).expand({length});
    CHECK_THROWS_AS(wide.unbind(), c10::OutOfMemoryError);
    CHECK_THROWS_AS(wide.split(1), c10::OutOfMemoryError);
    CHECK_THROWS_AS(wide.chunk(length), c10::OutOfMemoryError);
    CHECK_THROWS_AS(at::unsafe_split(wide, 1), c10::OutOfMemoryError);
    CHECK_THROWS_AS(call_boxed("aten::split", "Tensor", {wide, 1, 0}), c10::OutOfMemoryError);
  }
  const Tensor wide = at::ones({1}).expand({int64_t{1} << 50});
  CHECK_THROWS_AS(at::kthvalue(wide, 1), c10::OutOfMemoryError);
  CHECK_THROWS_AS(at::median(wide), c10::OutOfMemoryError);
  CHECK_THROWS_WITH(wide.unbind(), Catch::Contains("aten::unbind") && Catch::Contains("not enough memory"));
}

TEST_CASE("dimensions of size 1 cost their number, not its square", "[aten]") {
  const std::vector<int64_t> ones(200'000, 1); // a minute, when each was compared with each
  const Tensor many = at::ones({1}).as_strided(ones, ones);
  const Tensor sum = many + many;
  CHECK(sum.dim() == 200'000);
  CHECK(sum.reshape({}).item<float>() == 2);
  std::vector<int64_t> wide = ones;
  wide[7] = 3;
  wide[100] = 2;
  const Tensor x = at::arange(6, at::kFloat).reshape(wide);
  CHECK((x.transpose(7, 100) * 2).reshape({2, 3}).equal(at::arange(6, at::kFloat).reshape({3, 2}).t() * 2));
}

TEST_CASE("integers that indices add into one place wrap", "[aten]") {
  const at::Tensor places = at::tensor({int64_t{0}, int64_t{0}}), big = at::tensor({INT64_MAX, int64_t{2}});
  const at::Tensor start = at::zeros({1}, at::kLong);
  const int64_t wrapped = INT64_MIN + 1;
  CHECK(at::index_put(start, {places}, big, true).item<int64_t>() == wrapped);
  CHECK(at::put(start, places, big, true).item<int64_t>() == wrapped);
  CHECK(at::scatter_add(start, 0, places, big).item<int64_t>() == wrapped);
  CHECK(at::scatter(start, 0, places, big, "add").item<int64_t>() == wrapped);
  CHECK(at::scatter_reduce(at::ones({1}, at::kLong), 0, places, big, "prod").item<int64_t>() == -2);
  CHECK(at::index_add(start, 0, places, big, INT64_MAX).item<int64_t>() == -1); // 1 from the first, -2 from the second
}

TEST_CASE("copying over a part of itself is refused before anything is written", "[aten]") {
  const at::Tensor line = at::arange(1000);
  CHECK_THROWS_AS(line.slice(0, 1, 1000).copy_(line.slice(0, 0, 999)), c10::Error);
  CHECK(at::equal(line, at::arange(1000)));
}

TEST_CASE("an index without elements may have any number of dimensions", "[errors]") {
  at::Tensor many = at::ones(std::vector<int64_t>(60, 1));
  CHECK(at::equal(at::scatter_add(many, -1, at::zeros({0, 3}, at::kLong), at::ones({3, 3})), many));
}

TEST_CASE("a list whose second part cannot be made is given up whole", "[errors]") {
  const Tensor stored = at::zeros({1}).to(at::kFloat8_e4m3fn);
  CHECK_THROWS_AS(at::vander(stored, 4, true), c10::Error);
}

TEST_CASE("sums and products of integers in sparse tensors wrap", "[aten]") {
  constexpr int64_t kMost = INT64_MAX;
  const Tensor places = at::zeros({2, 2}, at::kLong);
  const Tensor twice = at::sparse_coo_tensor(places, at::full({2}, kMost, at::kLong), {1, 1});
  CHECK(twice.coalesce().values().item<int64_t>() == -2);
  CHECK(at::mm(twice, at::full({1, 1}, 3, at::kLong)).item<int64_t>() == -6);
  CHECK(at::mm(twice, twice).coalesce().values().item<int64_t>() == 4);
  CHECK(at::add(at::zeros({1, 1}, at::kLong), twice, kMost).item<int64_t>() == 2);
}

TEST_CASE("products of sizes and strides of tensors without elements", "[aten]") {
  const Tensor none = at::empty({0, 3});
  CHECK_THROWS_AS(none.view({0, INT64_MAX, 64}), c10::Error); // the strides that a view would have are refused
  CHECK_FALSE(none.as_strided({0, 2, 5, 4}, {0, INT64_MAX, 6, 3}).is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST_CASE("histograms of more cells than 64 bits count are refused", "[errors]") {
  const Tensor points = at::zeros({2, 3});
  CHECK_THROWS_AS(at::_histogramdd_bin_edges(points, {INT64_MAX, 1, 1}), c10::Error);
  const Tensor edges = at::zeros({1}).expand({(int64_t{1} << 31) + 1});
  CHECK_THROWS_AS(at::_histogramdd_from_bin_tensors(points, {edges, edges, edges}), c10::Error);
}

TEST_CASE("rounding to any number of decimals", "[aten]") {
  CHECK(at::round(at::full({1}, 1.5), INT64_MIN).isnan().item<bool>());
}

TEST_CASE("ranges of any bounds and step are counted or refused", "[errors]") {
  CHECK(at::arange(0, 256, INT64_MAX - 1, at::kLong).sizes() == at::IntArrayRef({1}));
  CHECK(at::arange(5, -5, -3, at::kLong).sizes() == at::IntArrayRef({4}));
  CHECK_THROWS_AS(at::arange(0, INT64_MIN, -1, at::kLong), c10::Error);
  CHECK_THROWS_AS(at::arange(0, 0x1p63, 1), c10::Error);
  CHECK_THROWS_AS(at::range(0, 0x1p63, 1), c10::Error);
}

TEST_CASE("a dimension of the largest size is not compressed", "[errors]") {
  CHECK_THROWS_AS(at::zeros({INT64_MAX, 3}, at::TensorOptions(at::kFloat).layout(at::kSparseCsr)), c10::Error);
}

TEST_CASE("a covariance takes any correction", "[aten]") {
  const Tensor x = at::arange(2, at::kDouble);
  CHECK(at::cov(x, INT64_MIN + 1).item<double>() < 1e-15);
  CHECK(at::cov(x, INT64_MAX).isinf().item<bool>());
}

TEST_CASE("images are resized by any factor", "[aten]") {
  const Tensor image = numbers({1, 2, 2, 1});
  for (const double scale : {1e-320, 1e300, std::numeric_limits<double>::infinity()}) {
    CHECK(
        at::upsample_bicubic2d(
            at::_upsample_bilinear2d_aa(image, {4, 4}, false, scale, scale), {3, 3}, false, scale, scale)
            .size(3) == 3);
  }
}

TEST_CASE("parts of tensors without elements begin within what an offset can say", "[aten][hostile]") {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const at::Tensor none = at::empty_strided({0, most - 1}, {1, 3});
  CHECK_THROWS_AS(none.slice(1, most - 2), c10::Error);
  CHECK_THROWS_AS(none.select(1, most - 2), c10::Error);
  CHECK(none.slice(1, 5, 7).numel() == 0);
}

TEST_CASE("cross products of integers wrap, sizes of resized images may not", "[aten][hostile]") {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const at::Tensor a = at::full({1, 3}, most, at::kLong), b = at::arange(3, at::kLong).unsqueeze(0);
  CHECK(at::cross(a, b, 1).equal(at::full({1, 3}, most, at::kLong) * at::tensor({1, -2, 1}, at::kLong)));
  at::Tensor out = at::empty({0}, at::kFloat);
  const at::Tensor image = at::ones({2, 3, 4, 2}).contiguous(at::MemoryFormat::ChannelsLast);
  CHECK_THROWS_AS(at::upsample_bicubic2d_out(out, image, {3, most - 1}, true), c10::Error);
  CHECK(out.numel() == 0);
}
