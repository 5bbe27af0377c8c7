// Windows and other factories, weights by direction and length, masked softmax.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/EmptyTensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/random.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <utility>
#include <vector>

#include "test/aten/dispatcher_support.h"
#include "test/support/matchers.h"

using at::Tensor;
using test::AllClose;
using test::EqualsTensor;
using test::Says;

namespace {

Tensor doubles(std::initializer_list<double> values) {
  const Tensor result = at::empty({static_cast<int64_t>(values.size())}, at::kDouble);
  std::copy(values.begin(), values.end(), result.mutable_data_ptr<double>());
  return result;
}

} // namespace

TEST_CASE("windows have the textbook's values", "[window]") {
  const double h = std::sqrt(0.5);
  CHECK_THAT(at::hann_window(4, at::kDouble), AllClose(doubles({0, 0.5, 1, 0.5})));
  CHECK_THAT(at::hann_window(5, false, at::kDouble), AllClose(doubles({0, 0.5, 1, 0.5, 0})));
  CHECK_THAT(at::hamming_window(4, at::kDouble), AllClose(doubles({0.08, 0.54, 1, 0.54})));
  CHECK_THAT(at::hamming_window(4, true, 0.6, 0.4, at::kDouble), AllClose(doubles({0.2, 0.6, 1, 0.6})));
  CHECK_THAT(at::blackman_window(4, at::kDouble), AllClose(doubles({0, 0.34, 1, 0.34})));
  CHECK_THAT(at::bartlett_window(4, at::kDouble), AllClose(doubles({0, 0.5, 1, 0.5})));
  CHECK_THAT(at::bartlett_window(4, false, at::kDouble), AllClose(doubles({0, 2.0 / 3, 2.0 / 3, 0})));
  // 1 / i0(12), i0(12 * sqrt(0.75)) / i0(12)
  CHECK_THAT(
      at::kaiser_window(4, at::kDouble),
      AllClose(doubles({5.2773441320097665e-05, 0.2156727447589671, 1, 0.2156727447589671})));
  CHECK_THAT(at::hann_window(8, at::kDouble).narrow(0, 0, 3), AllClose(doubles({0, (1 - h) / 2, 0.5})));
  CHECK_THAT(at::kaiser_window(1), EqualsTensor({1}));
  CHECK(at::hann_window(0).numel() == 0);
  CHECK(at::hann_window(3).scalar_type() == at::kFloat);
}

TEST_CASE("factories read a dtype off their output", "[factory]") {
  Tensor out = at::empty({0}, at::kDouble);
  CHECK_THAT(at::bartlett_window_out(out, 2), EqualsTensor({0, 1}));
  CHECK(at::new_full_out(out, at::ones({1}), {3}, 2).sum().item<double>() == 6);
  CHECK(out.scalar_type() == at::kDouble);
  CHECK(at::empty_permuted({2, 3, 4}, {2, 0, 1}).strides() == at::IntArrayRef({3, 1, 6}));
  CHECK_THAT(at::linspace(at::scalar_tensor(1.0), 3, 3), EqualsTensor({1, 2, 3}));
  CHECK_THROWS_MATCHES(
      at::linspace(at::ones({2}), 3, 3), c10::Error,
      Says("linspace only supports 0-dimensional start and end tensors, but got start with 1 dimension(s)."));
}

TEST_CASE("weight_norm is the direction times the length, with its gradient", "[weight_norm]") {
  at::manual_seed(3);
  for (const int64_t dim : {0, 1, 2}) {
    const Tensor v = at::randn({3, 4, 2}, at::kDouble).set_requires_grad(true);
    const Tensor plain = v.detach().clone().set_requires_grad(true);
    std::vector<int64_t> shape = {1, 1, 1};
    shape[dim] = v.size(dim);
    const Tensor g = at::randn(shape, at::kDouble).set_requires_grad(true);
    const Tensor length = g.detach().clone().set_requires_grad(true);
    const Tensor got = at::_weight_norm(v, g, dim);
    std::vector<int64_t> others = {0, 1, 2};
    others.erase(others.begin() + dim);
    const Tensor want = plain * (length / (plain * plain).sum(others, /*keepdim=*/true).sqrt());
    CHECK_THAT(got.detach(), AllClose(want.detach()));
    (got * got * got).sum().backward();
    (want * want * want).sum().backward();
    CHECK_THAT(v.grad(), AllClose(plain.grad()));
    CHECK_THAT(g.grad(), AllClose(length.grad()));
  }
}

TEST_CASE("masked softmax leaves out what its mask hides", "[softmax]") {
  const Tensor scores = at::arange(6, at::kDouble).view({2, 3});
  const Tensor mask = at::zeros({2, 3}, at::kBool);
  mask.select(1, 0).fill_(true);
  const Tensor got = at::_masked_softmax(scores, mask, 1);
  CHECK_THAT(got.select(1, 0).contiguous(), EqualsTensor({0, 0}));
  CHECK_THAT(got.narrow(1, 1, 2).contiguous(), AllClose(scores.narrow(1, 1, 2).softmax(1)));
}

TEST_CASE("a small result has nothing left of the one whose memory it takes", "[factory]") {
  for (const std::vector<int64_t>& before :
       std::vector<std::vector<int64_t>>{{}, {16}, {4, 4}, {1, 2, 2, 4}, {1, 2, 2, 2, 2}}) {
    for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
             {}, {5}, {3, 5}, {2, 1, 3}, {1, 3, 2, 2}, {1, 2, 2, 2, 2}, {1, 1, 2, 1, 2, 2}}) {
      {
        Tensor odd = at::empty(before, at::kFloat);
        if (before.size() == 4) {
          odd.unsafeGetTensorImpl()->empty_tensor_restride(at::MemoryFormat::ChannelsLast);
        }
        odd.requires_grad_();
        odd.unsafeGetTensorImpl()->bump_version();
      }
      const Tensor fresh = at::empty(sizes, at::kFloat);
      INFO(at::IntArrayRef(before) << " then " << at::IntArrayRef(sizes));
      int64_t numel = 1;
      for (size_t d = sizes.size(); d-- > 0;) {
        CHECK(fresh.strides()[d] == numel);
        numel *= sizes[d];
      }
      CHECK(fresh.sizes() == at::IntArrayRef(sizes));
      CHECK(fresh.numel() == numel);
      CHECK(fresh.storage().nbytes() == static_cast<size_t>(numel) * sizeof(float));
      CHECK(fresh.storage_offset() == 0);
      CHECK(fresh.is_contiguous());
      CHECK(fresh.is_non_overlapping_and_dense());
      CHECK_FALSE(fresh.is_contiguous(at::MemoryFormat::ChannelsLast));
      CHECK_FALSE(fresh.requires_grad());
      CHECK(fresh._version() == 0);
      CHECK(fresh.scalar_type() == at::kFloat);
    }
  }
  const Tensor typed = at::empty({3}, at::kByte);
  CHECK(typed.scalar_type() == at::kByte);
  CHECK(typed.storage().nbytes() == 3);
}

TEST_CASE("a small tensor is used again only with the memory it was made with", "[factory]") {
  static float mine[4];
  using Change = void (*)(c10::StorageImpl&);
  const Change changes[] = {
      [](c10::StorageImpl& s) { s.set_data_ptr_noswap(at::DataPtr(mine, at::kCPU)); },
      [](c10::StorageImpl& s) { s.mutable_data_ptr() = at::DataPtr(mine, at::kCPU); },
      [](c10::StorageImpl& s) { s.UniqueStorageShareExternalPointer(mine, sizeof mine); },
      [](c10::StorageImpl& s) { s.reset(); },
      [](c10::StorageImpl& s) { s.set_resizable(false); },
      [](c10::StorageImpl& s) { s.set_allocator(nullptr); },
      [](c10::StorageImpl& s) { s.set_throw_on_mutable_data_ptr(); },
      [](c10::StorageImpl& s) { s.get_extra_meta().custom_data_ptr_error_msg_ = "no"; },
      [](c10::StorageImpl& s) { s.set_nbytes(c10::SymInt(1000)); },
  };
  for (const Change change : changes) {
    for (int i = 0; i < 3; ++i) {
      change(*at::empty({4}, at::kFloat).storage().unsafeGetStorageImpl());
    }
    std::vector<Tensor> fresh;
    for (int i = 0; i < 40; ++i) {
      fresh.push_back(at::empty({4}, at::kFloat));
      const c10::StorageImpl& storage = *fresh.back().storage().unsafeGetStorageImpl();
      REQUIRE(storage.is_plain());
      REQUIRE(storage.allocator() == c10::GetAllocator(c10::DeviceType::CPU));
      REQUIRE(storage.nbytes() == 4 * sizeof(float));
      REQUIRE(fresh.back().const_data_ptr() != nullptr);
      REQUIRE(fresh.back().const_data_ptr() != mine);
    }
  }
}

TEST_CASE("a small tensor that gave its storage away is not used again", "[factory]") {
  using Change = void (*)(Tensor&);
  const Change changes[] = {
      [](Tensor& t) { t.unsafeGetTensorImpl()->release_storage_and_set_meta_custom_data_ptr_error_msg_("gone"); },
      [](Tensor& t) { t.unsafeGetTensorImpl()->set_storage_keep_dtype(at::empty({4}).storage()); },
      [](Tensor& t) {
        const c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> outlives(t.getIntrusivePtr());
        t.reset();
        CHECK(outlives.expired());
      },
  };
  for (const Change change : changes) {
    for (int i = 0; i < 3; ++i) {
      Tensor given = at::empty({4});
      change(given);
    }
    std::vector<Tensor> fresh;
    for (int i = 0; i < 40; ++i) {
      fresh.push_back(at::empty({4}));
      REQUIRE(fresh.back().sizes() == at::IntArrayRef({4}));
      REQUIRE(fresh.back().storage().use_count() == 1);
      fresh.back().fill_(1);
    }
  }
}

TEST_CASE("kernels registered on the way of empty() are called at once", "[factory]") {
  static int calls;
  calls = 0;
  const auto counted = [](c10::SymIntArrayRef size, std::optional<at::ScalarType>, std::optional<at::Layout>,
                          std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat>) {
    ++calls;
    return Tensor(at::detail::empty_generic(
        c10::asIntArrayRefSlow(size, __FILE__, __LINE__), c10::GetAllocator(c10::DeviceType::CPU),
        c10::DispatchKeySet(c10::DispatchKey::CPU), at::kFloat, std::nullopt));
  };
  for (const c10::DispatchKey key : {c10::DispatchKey::CPU, c10::DispatchKey::BackendSelect}) {
    for (int i = 0; i < 3; ++i) {
      at::empty({2}); // the way is known by now
    }
    CHECK(calls == 0);
    auto library = dispatcher_test::implement("aten", key);
    library.impl("empty.memory_format", counted);
    CHECK(at::empty({2}).numel() == 2);
    CHECK(calls == 1);
    library.reset();
    CHECK(at::empty({2}).numel() == 2);
    CHECK(std::exchange(calls, 0) == 1);
  }
}

TEST_CASE("options of a small tensor count", "[factory]") {
  for (int i = 0; i < 2; ++i) { // the second time from kept tensors
    CHECK(at::empty({2, 3}, at::kHalf).scalar_type() == at::kHalf);
    CHECK(at::empty({2, 3}, at::Device(at::kCPU)).scalar_type() == at::kFloat);
    CHECK(at::empty({2, 3}, at::kMeta).is_meta());
    CHECK(at::empty({1, 2, 2, 2}, {}, at::MemoryFormat::ChannelsLast).is_contiguous(at::MemoryFormat::ChannelsLast));
    CHECK(at::empty({1, 2, 2, 2}, at::TensorOptions().memory_format(at::MemoryFormat::ChannelsLast)).stride(1) == 1);
    CHECK(at::empty({2, 3}, at::TensorOptions().layout(at::kSparse)).is_sparse());
    CHECK(at::empty({0}).numel() == 0);
    CHECK_THROWS_AS(at::empty({-1}), c10::Error);
    CHECK_THROWS_AS(at::empty({3, -2}), c10::Error);
    const c10::InferenceMode inference;
    CHECK(at::empty({2, 3}).is_inference());
  }
  CHECK_FALSE(at::empty({2, 3}).is_inference());
}

TEST_CASE("few elements without options are a tensor like any other", "[factory]") {
  struct DefaultDtype {
    ~DefaultDtype() {
      c10::set_default_dtype(before);
    }
    const caffe2::TypeMeta before = c10::get_default_dtype();
  };
  const DefaultDtype restored;
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(dtype));
    for (const int64_t size : {1, 31, 32, 33, 64, 129, 1025}) {
      for (int i = 0; i < 3; ++i) { // from the second time on from kept tensors
        INFO(dtype << " " << size);
        const Tensor fresh = at::empty({size});
        CHECK(fresh.sizes() == at::IntArrayRef({size}));
        CHECK(fresh.strides() == at::IntArrayRef({1}));
        CHECK(fresh.numel() == size);
        CHECK(fresh.storage_offset() == 0);
        CHECK(fresh.scalar_type() == dtype);
        CHECK(fresh.storage().nbytes() == static_cast<size_t>(size) * c10::elementSize(dtype));
        CHECK(fresh.is_contiguous());
        CHECK(fresh.is_non_overlapping_and_dense());
        CHECK_FALSE(fresh.is_contiguous(at::MemoryFormat::ChannelsLast));
        CHECK_FALSE(fresh.requires_grad());
        CHECK_FALSE(fresh.is_inference());
        CHECK(fresh._version() == 0);
        // What must not come back.
        Tensor odd = at::empty({2, size}).t().select(0, 0);
        odd = at::empty({size});
        odd.unsafeGetTensorImpl()->set_sizes_and_strides(
            at::IntArrayRef({1, size, 1, 1}), at::IntArrayRef({7, 1, 1, 9}));
        odd.unsafeGetTensorImpl()->bump_version();
        odd.requires_grad_();
      }
    }
  }
  CHECK_THROWS_AS(at::empty({-1}), c10::Error);
  CHECK_THROWS(at::empty({(int64_t{1} << 62) + 1}));
  CHECK_THROWS(at::empty({int64_t{1} << 63}));
  CHECK(at::empty({0}).numel() == 0);
  {
    const c10::InferenceMode inference;
    CHECK(at::empty({1}).is_inference());
  }
  CHECK_FALSE(at::empty({1}).is_inference());
}
