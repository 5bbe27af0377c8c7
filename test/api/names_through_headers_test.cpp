// Names that programs use through headers which bring them along in libtorch. Each check stands before the next
// include, which could bring the name as well.
#include <c10/core/DeviceGuard.h>

static_assert(!c10::optional<int>(c10::nullopt).has_value() && *c10::make_optional(3) == 3);

#include <c10/util/typeid.h>

static_assert(c10::string_view("typeid").size() == 6);

#include <c10/util/Half.h>

static const bool kHalfBringsBytesAndMath = std::strlen("half") == 4 && std::fabs(-1.0) == 1.0;

#include <ATen/core/op_registration/op_registration.h>

static const auto kSchemaThroughRegistration = torch::jit::parseSchema("outside::twice(Tensor self) -> Tensor");

#include <ATen/ATen.h>

static at::CheckedFrom kCheckedFrom = "names_through_headers";

#include <ATen/core/List.h>
#include <ATen/core/TensorAccessor.h>
#include <ATen/native/RangeUtils.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/flat_hash_map.h>
#include <c10/util/order_preserving_flat_hash_map.h>

#if __has_include(<gmock/gmock.h>)
#include <ATen/core/boxing/impl/test_helpers.h>
#endif

#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using Catch::Matchers::Contains;

namespace {

struct NotAssignable {
  NotAssignable() = default;
  NotAssignable& operator=(const NotAssignable&) = delete;
};
struct NotDefaultConstructible {
  explicit NotDefaultConstructible(int) {}
};

} // namespace

TEST_CASE("headers bring the names that libtorch's bring", "[names]") {
  CHECK(kHalfBringsBytesAndMath);
  CHECK(kSchemaThroughRegistration.name() == "outside::twice");
  const at::Tensor a = at::zeros({2});
  const at::Tensor b = at::zeros({2}, at::kDouble);
  at::checkAllSameType(kCheckedFrom, {at::TensorArg(a, "a", 1), at::TensorArg(a, "a", 2)});
  CHECK_THROWS_WITH(
      at::checkAllSameType(kCheckedFrom, {at::TensorArg(a, "a", 1), at::TensorArg(b, "b", 2)}),
      Contains("names_through_headers"));
}

TEST_CASE("an optional array is assigned from a vector", "[names]") {
  const std::vector<int64_t> values = {3, 5};
  at::OptionalIntArrayRef array;
  array = values;
  CHECK(array->size() == 2);
  array = at::IntArrayRef(values).slice(1);
  CHECK(array->front() == 5);
  array = std::nullopt;
  CHECK_FALSE(array.has_value());
}

TEST_CASE("flat maps give the range of a key", "[names]") {
  ska::flat_hash_map<int, int> map = {{1, 10}, {2, 20}};
  ska::flat_hash_set<int> set = {4};
  ska_ordered::order_preserving_flat_hash_map<int, int> ordered = {{1, 10}, {2, 20}};
  const auto count = [](auto& container, int key) {
    const auto range = container.equal_range(key);
    return std::distance(range.first, range.second);
  };
  CHECK(count(map, 2) == 1);
  CHECK(map.equal_range(2).first->second == 20);
  CHECK(count(map, 3) == 0);
  CHECK(count(std::as_const(map), 1) == 1);
  CHECK(count(set, 4) == 1);
  CHECK(count(set, 5) == 0);
  CHECK(count(ordered, 1) == 1);
  CHECK(count(std::as_const(ordered), 7) == 0);
}

TEST_CASE("a type says that it cannot be assigned or made", "[names]") {
  const auto assigned = caffe2::TypeMeta::Make<NotAssignable>();
  CHECK(assigned.copy() == &caffe2::detail::_CopyNotAllowed<NotAssignable>);
  CHECK_THROWS_WITH(assigned.copy()(nullptr, nullptr, 1), Contains("does not allow assignment"));
  const auto made = caffe2::TypeMeta::Make<NotDefaultConstructible>();
  CHECK_THROWS_WITH(made.newFn()(), Contains("is not default-constructible"));
  CHECK_THROWS_WITH(made.placementNew()(nullptr, 1), Contains("is not default-constructible"));
  CHECK(caffe2::TypeMeta::Make<float>().copy() == nullptr);
}

TEST_CASE("rows of the dispatch table have libtorch's name", "[names]") {
  const c10::FunctionalityOffsetAndMask row(3, 7);
  CHECK(row.offset == 3);
  CHECK(row.mask == 7);
  CHECK(c10::FunctionalityOffsetAndMask().mask == 0);
}

TEST_CASE("types are made with other contained types", "[names]") {
  const c10::TypePtr ints = c10::ListType::ofInts();
  CHECK(ints->createWithContained({c10::StringType::get()})->str() == "str[]");
  CHECK(c10::OptionalType::create(ints)->createWithContained({c10::FloatType::get()})->str() == "float?");
  CHECK_THROWS_WITH(c10::IntType::get()->createWithContained({}), Contains("did not overload createWithContained"));
}

TEST_CASE("elements of a constant list are read", "[names]") {
  const c10::List<int64_t> ints({1, 2});
  const c10::List<std::string> words({"a", "b"});
  const c10::List<at::Tensor> tensors({at::ones({2})});
  CHECK(ints[1] == 2);
  CHECK(words[1] == "b");
  CHECK(tensors[0].numel() == 2);
  const c10::List<std::optional<at::Tensor>> indices({std::nullopt, at::ones({3})});
  const std::optional<at::Tensor> second = indices[1];
  CHECK(second->numel() == 3);
  const c10::List<c10::List<int64_t>> nested({ints});
  CHECK(c10::List<int64_t>(nested[0]).size() == 2);
  const c10::List<bool> flags({true});
  CHECK(bool(flags[0]));
  const c10::List<std::tuple<int64_t, std::string>> pairs({{1, "x"}});
  CHECK(std::get<1>(std::tuple<int64_t, std::string>(pairs[0])) == "x");
  const c10::List<at::Device> devices({at::Device(at::kCPU)});
  CHECK(at::Device(devices[0]).is_cpu());
  const c10::List<at::IntArrayRef::value_type> empty;
  CHECK_THROWS_AS(empty[0], std::out_of_range);
}

TEST_CASE("packed accessors share a base", "[names]") {
  at::Tensor x = at::arange(6, at::kDouble).reshape({2, 3});
  const auto packed = x.packed_accessor64<double, 2>();
  const at::GenericPackedTensorAccessorBase<double, 2>& base = packed;
  CHECK(base.size(1) == 3);
  CHECK(base.stride(0) == 3);
  CHECK(packed[1][2] == 5);
  CHECK(packed.transpose(0, 1)[2][1] == 5);
}

TEST_CASE("a tensor without autograd keys goes straight to its backend", "[names]") {
  at::Tensor x = at::zeros({2});
  x.unsafeGetTensorImpl()->remove_autograd_key();
  CHECK_FALSE(x.key_set().has(c10::DispatchKey::AutogradCPU));
  CHECK(x.key_set().has(c10::DispatchKey::CPU));
}

TEST_CASE("sizes of ranges are those of arange", "[names]") {
  using at::native::compute_arange_size;
  CHECK(compute_arange_size<int64_t>(0, 10, 3) == 4);
  CHECK(compute_arange_size<int64_t>(10, 0, -3) == 4);
  CHECK(compute_arange_size<int64_t>(2, 2, 1) == 0);
  CHECK(compute_arange_size<float>(0.0, 1.0, 0.25) == 4);
  const int64_t large = int64_t{1} << 62;
  CHECK(compute_arange_size<int64_t>(large, large + 7, 2) == 4);
  CHECK_THROWS_WITH(compute_arange_size<int64_t>(0, 10, 0), Contains("step must be nonzero"));
  CHECK_THROWS_WITH(compute_arange_size<int64_t>(0, 10, -1), Contains("inconsistent with step sign"));
  CHECK_THROWS_WITH(
      compute_arange_size<double>(0, std::numeric_limits<double>::infinity(), 1), Contains("unsupported range"));
  CHECK_THROWS_WITH(compute_arange_size<double>(0.0, 1e300, 1.0), Contains("possible overflow"));
}

#if __has_include(<gmock/gmock.h>)
TEST_CASE("a dummy tensor has the keys asked for", "[names]") {
  const at::Tensor plain = dummyTensor(c10::DispatchKey::CPU);
  CHECK(extractDispatchKey(plain) == c10::DispatchKey::CPU);
  CHECK_FALSE(plain.key_set().has(c10::DispatchKey::AutogradCPU));
  CHECK(dummyTensor(c10::DispatchKey::CPU, true).key_set().has(c10::DispatchKey::AutogradCPU));
}
#endif
