#include <catch2/catch.hpp>

#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/SymbolicShapeMeta.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <thread>
#include <vector>

using namespace c10;

namespace {

using Sizes = std::vector<int64_t>;

intrusive_ptr<TensorImpl> make_tensor(const Sizes& sizes, DispatchKey key = DispatchKey::CPU) {
  size_t numel = 1;
  for (const int64_t size : sizes) {
    numel *= static_cast<size_t>(size);
  }
  Storage storage(
      Storage::use_byte_size_t(), SymInt(static_cast<int64_t>(numel * sizeof(float))), GetCPUAllocator(), true);
  auto tensor = make_intrusive<TensorImpl>(std::move(storage), key, caffe2::TypeMeta::Make<float>());
  tensor->set_sizes_contiguous(sizes);
  return tensor;
}

intrusive_ptr<TensorImpl> make_meta() {
  return make_intrusive<TensorImpl>(
      DispatchKey::Meta, caffe2::TypeMeta::Make<float>(), std::optional<Device>(Device(DeviceType::Meta)));
}

// Offsets of all elements in the order of the given dimensions, slowest first.
std::vector<int64_t> offsets(const Sizes& sizes, const Sizes& strides, const std::vector<size_t>& order) {
  std::vector<int64_t> result = {0};
  for (const size_t d : order) {
    std::vector<int64_t> next;
    for (const int64_t base : result) {
      for (int64_t i = 0; i < sizes[d]; ++i) {
        next.push_back(base + i * strides[d]);
      }
    }
    result = next;
  }
  return result;
}

bool counts_up(const std::vector<int64_t>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<int64_t>(i)) {
      return false;
    }
  }
  return true;
}

bool fills_once(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return counts_up(values);
}

struct Shape {
  Sizes sizes;
  Sizes strides;
};

// Permuted dense shapes, with some strides spoilt, so that all flags occur both ways.
Shape random_shape(std::mt19937& random) {
  const size_t dim = random() % 7;
  Shape shape;
  std::vector<size_t> order;
  for (size_t d = 0; d < dim; ++d) {
    const int64_t choices[] = {1, 1, 2, 3, 4, 0};
    shape.sizes.push_back(choices[random() % (random() % 4 == 0 ? 6 : 5)]);
    order.push_back(d);
  }
  if (random() % 3 == 0) {
    std::shuffle(order.begin(), order.end(), random);
  } else if (dim >= 4 && random() % 2 == 0) {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  shape.strides.resize(dim);
  int64_t next = 1;
  for (size_t i = dim; i-- > 0;) {
    shape.strides[order[i]] = next;
    next *= std::max<int64_t>(shape.sizes[order[i]], 1);
    if (random() % 12 == 0) {
      next += 1;
    }
  }
  for (size_t d = 0; d < dim; ++d) {
    if (random() % 10 == 0) {
      shape.strides[d] = static_cast<int64_t>(random() % 5);
    }
  }
  return shape;
}

// A tensor of a program's own that tells how many references its destructor sees.
class Watched final : public TensorImpl {
 public:
  explicit Watched(uint32_t& seen)
      : TensorImpl(DispatchKey::CPU, caffe2::TypeMeta::Make<float>(), Device(DeviceType::CPU)), seen_(seen) {}
  ~Watched() override {
    seen_ = c10::raw::intrusive_ptr::use_count(this);
  }

 private:
  uint32_t& seen_;
};

class CustomSizes final : public TensorImpl {
 public:
  CustomSizes() : TensorImpl(DispatchKey::NestedTensorCPU, caffe2::TypeMeta::Make<float>(), Device(DeviceType::CPU)) {
    set_custom_sizes_strides(SizesStridesPolicy::CustomSizes);
    set_storage_access_should_throw();
  }
  const char* tensorimpl_type_name() const override {
    return "CustomSizes";
  }

 protected:
  IntArrayRef sizes_custom() const override {
    return sizes_;
  }
  int64_t dim_custom() const override {
    return 2;
  }
  int64_t numel_custom() const override {
    return 12;
  }
  bool is_contiguous_custom(MemoryFormat) const override {
    return false;
  }

 private:
  Sizes sizes_ = {3, 4};
};

class Unknown final : public SymNodeImpl {
 public:
  explicit Unknown(int64_t hint) : hint_(hint) {}
  bool is_int() override {
    return true;
  }
  SymNode wrap_int(int64_t value) override {
    return make_intrusive<Unknown>(value);
  }
  SymNode mul(const SymNode& other) override {
    return make_intrusive<Unknown>(hint_ * other->guard_int("", 0));
  }
  SymNode sym_max(const SymNode& other) override {
    return make_intrusive<Unknown>(std::max(hint_, other->guard_int("", 0)));
  }
  int64_t guard_int(const char*, int64_t) override {
    return hint_;
  }
  std::string str() override {
    return "s0";
  }

 private:
  int64_t hint_;
};

constexpr int64_t kHuge = int64_t{1} << 62;

} // namespace

TEST_CASE("sizes_and_strides keeps any number of dimensions", "[c10][tensor_impl]") {
  impl::SizesAndStrides s;
  CHECK(s.size() == 1);
  CHECK(s.size_at(0) == 0);
  CHECK(s.stride_at(0) == 1);
  for (const size_t n : {0u, 3u, 5u, 6u, 9u, 7u, 5u, 70u, 2u}) {
    Sizes sizes(n);
    for (size_t i = 0; i < n; ++i) {
      sizes[i] = static_cast<int64_t>(i + 10);
    }
    s.set_sizes(sizes);
    s.set_strides(sizes);
    CHECK(s.sizes_arrayref() == IntArrayRef(sizes));
    impl::SizesAndStrides copy(s);
    CHECK(copy == s);
    impl::SizesAndStrides moved(std::move(copy));
    CHECK(moved == s);
    copy = moved;
    moved = std::move(copy);
    CHECK(moved.strides_arrayref() == IntArrayRef(sizes));
  }
  s.resize(7);
  CHECK(s.size_at(1) == 11);
  CHECK(s.size_at(6) == 0);
  CHECK(s.stride_at(6) == 0);
  CHECK_THROWS(s.size_at(7));
}

TEST_CASE("contiguity facts agree with the offsets of the elements", "[c10][tensor_impl]") {
  std::mt19937 random(3);
  auto tensor = make_meta();
  int dense = 0;
  int contiguous = 0;
  int channels_last = 0;
  for (int round = 0; round < 20000; ++round) {
    const Shape shape = random_shape(random);
    tensor->set_sizes_and_strides(shape.sizes, shape.strides);
    const size_t dim = shape.sizes.size();
    std::vector<size_t> order(dim);
    for (size_t d = 0; d < dim; ++d) {
      order[d] = d;
    }
    const auto plain = offsets(shape.sizes, shape.strides, order);
    INFO("sizes " << IntArrayRef(shape.sizes) << " strides " << IntArrayRef(shape.strides));
    REQUIRE(tensor->numel() == static_cast<int64_t>(plain.size()));
    REQUIRE(tensor->is_contiguous() == counts_up(plain));
    const bool has_elements = !plain.empty();
    if (has_elements) {
      REQUIRE(tensor->is_non_overlapping_and_dense() == fills_once(plain));
      if (dim == 4) {
        const bool nhwc = counts_up(offsets(shape.sizes, shape.strides, {0, 2, 3, 1}));
        REQUIRE(tensor->is_contiguous(MemoryFormat::ChannelsLast) == nhwc);
        channels_last += nhwc ? 1 : 0;
      }
      if (dim == 5) {
        REQUIRE(
            tensor->is_contiguous(MemoryFormat::ChannelsLast3d) ==
            counts_up(offsets(shape.sizes, shape.strides, {0, 2, 3, 4, 1})));
      }
    }
    if (dim != 4) {
      REQUIRE_FALSE(tensor->is_contiguous(MemoryFormat::ChannelsLast));
      REQUIRE_FALSE(tensor->is_strides_like_channels_last());
    }
    if (dim != 5) {
      REQUIRE_FALSE(tensor->is_contiguous(MemoryFormat::ChannelsLast3d));
    }
    dense += tensor->is_non_overlapping_and_dense() ? 1 : 0;
    contiguous += tensor->is_contiguous() ? 1 : 0;
  }
  CHECK(dense > 1000);
  CHECK(contiguous > 1000);
  CHECK(contiguous < dense);
  CHECK(channels_last > 100);
}

TEST_CASE("a tensor takes its shape from its own sizes and strides", "[c10][tensor_impl]") {
  auto t = make_meta();
  t->set_sizes_and_strides(Sizes{2, 3, 4}, Sizes{5, 10, 1});
  t->set_sizes_and_strides(t->strides(), t->sizes());
  CHECK(t->sizes() == IntArrayRef({5, 10, 1}));
  CHECK(t->strides() == IntArrayRef({2, 3, 4}));
  t->set_sizes_and_strides(t->sizes().slice(1), t->strides().slice(1));
  CHECK(t->sizes() == IntArrayRef({10, 1}));
  CHECK(t->strides() == IntArrayRef({3, 4}));
  CHECK(t->numel() == 10);
  CHECK_FALSE(t->is_contiguous());
  CHECK_FALSE(t->is_non_overlapping_and_dense());
}

TEST_CASE("set_sizes_contiguous gives what set_sizes_and_strides gives", "[c10][tensor_impl]") {
  std::mt19937 random(5);
  auto a = make_meta();
  auto b = make_meta();
  for (int round = 0; round < 2000; ++round) {
    const Sizes sizes = random_shape(random).sizes;
    a->set_sizes_contiguous(sizes);
    b->set_sizes_and_strides(sizes, Sizes(sizes.size(), -1)); // a negative stride asks for the contiguous one
    INFO(IntArrayRef(sizes));
    REQUIRE(a->strides() == b->strides());
    REQUIRE(a->numel() == b->numel());
    for (const MemoryFormat f : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
      REQUIRE(a->is_contiguous(f) == b->is_contiguous(f));
      REQUIRE(a->is_strides_like(f) == b->is_strides_like(f));
    }
    REQUIRE(a->is_contiguous());
    REQUIRE(a->is_non_overlapping_and_dense());
  }
}

TEST_CASE("memory formats give their strides", "[c10][tensor_impl]") {
  auto t = make_tensor({2, 3, 4, 5});
  t->empty_tensor_restride(MemoryFormat::ChannelsLast);
  CHECK(t->strides() == IntArrayRef({60, 1, 15, 3}));
  CHECK(t->is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(t->is_strides_like_channels_last());
  CHECK_FALSE(t->is_contiguous());
  t->empty_tensor_restride(MemoryFormat::Contiguous);
  CHECK(t->strides() == IntArrayRef({60, 20, 5, 1}));
  CHECK_THROWS_WITH(
      t->empty_tensor_restride(MemoryFormat::ChannelsLast3d),
      Catch::Contains("required rank 5 tensor to use channels_last_3d format"));
  CHECK_THROWS_WITH(t->empty_tensor_restride(MemoryFormat::Preserve), Catch::Contains("unsupported memory format"));
  auto v = make_tensor({1, 2, 3, 4, 5});
  v->empty_tensor_restride(MemoryFormat::ChannelsLast3d);
  CHECK(v->strides() == IntArrayRef({120, 1, 40, 10, 2}));
}

TEST_CASE("dimensions may count from the end", "[c10][tensor_impl]") {
  auto t = make_tensor({2, 3});
  CHECK(t->size(-1) == 3);
  CHECK(t->stride(-2) == 3);
  CHECK(t->sym_size(0) == 2);
  CHECK_THROWS_WITH(
      t->size(2), Catch::Contains("Dimension out of range (expected to be in range of [-2, 1], but got 2)"));
  CHECK_THROWS_AS(t->size(-3), IndexError);
  CHECK_THROWS_AS(t->stride(2), IndexError);
  CHECK_THROWS_AS(t->stride(std::numeric_limits<int64_t>::min()), IndexError);
  CHECK_THROWS_AS(t->size(std::numeric_limits<int64_t>::max()), IndexError);
  for (const Sizes& sizes : {Sizes{2, 3, 4, 5, 6}, Sizes{2, 3, 4, 5, 6, 7}}) { // in place and on the heap
    const auto many = make_tensor(sizes);
    const auto dim = static_cast<int64_t>(sizes.size());
    for (int64_t d = 0; d < dim; ++d) {
      CHECK(many->size(d) == sizes[static_cast<size_t>(d)]);
      CHECK(many->size(d - dim) == many->size(d));
      CHECK(many->stride(d) == many->strides()[static_cast<size_t>(d)]);
      CHECK(many->stride(d - dim) == many->stride(d));
    }
    CHECK_THROWS_AS(many->size(dim), IndexError);
    CHECK_THROWS_AS(many->stride(-dim - 1), IndexError);
  }
  CHECK_THROWS_WITH(make_tensor({})->size(0), Catch::Contains("Dimension specified as 0 but tensor has no dimensions"));
  CHECK(maybe_wrap_dim(0, 0) == 0);
  CHECK(maybe_wrap_dim(-1, 0) == 0);
  CHECK_THROWS_WITH(
      maybe_wrap_dim(3, 0), Catch::Contains("Dimension out of range (expected to be in range of [-1, 0], but got 3)"));
  CHECK(maybe_wrap_dim(SymInt(-1), SymInt(4)) == 3);
  CHECK_THROWS(maybe_wrap_dim(std::numeric_limits<int64_t>::min(), 2));
}

TEST_CASE("what does not fit into 64 bits is an error and changes nothing", "[c10][tensor_impl]") {
  auto t = make_meta();
  t->set_sizes_and_strides(Sizes{2, 3}, Sizes{3, 1}, 4);
  CHECK_THROWS_WITH(t->set_sizes_contiguous(Sizes{kHuge, 4}), Catch::Contains("integer multiplication overflow"));
  CHECK_THROWS_WITH(t->set_sizes_contiguous(Sizes{0, kHuge, 4}), Catch::Contains("Stride calculation overflowed"));
  CHECK_THROWS_WITH(t->set_sizes_contiguous(Sizes{2, -1}), Catch::Contains("negative dimension -1"));
  CHECK_THROWS_WITH(
      t->set_sizes_and_strides(Sizes{kHuge, kHuge}, Sizes{0, 0}), Catch::Contains("integer multiplication overflow"));
  CHECK_THROWS_WITH(
      t->set_sizes_and_strides(Sizes{0, kHuge, 4}, Sizes{-1, -1, -1}),
      Catch::Contains("Stride calculation overflowed"));
  CHECK_THROWS_WITH(
      t->set_sizes_and_strides(Sizes{1}, Sizes{}), Catch::Contains("must match dimensionality of strides"));
  CHECK_THROWS(t->set_size(0, kHuge));
  CHECK(t->sizes() == IntArrayRef({2, 3}));
  CHECK(t->strides() == IntArrayRef({3, 1}));
  CHECK(t->storage_offset() == 4);
  CHECK(t->numel() == 6);

  t->set_sizes_contiguous(Sizes{kHuge, 0, 1});
  CHECK(t->numel() == 0);
  t->set_sizes_contiguous(Sizes{kHuge});
  CHECK(t->numel() == kHuge);
}

TEST_CASE("the bytes of a storage are computed with checks", "[c10][tensor_impl]") {
  CHECK(checked_storage_nbytes_contiguous(Sizes{2, 3}, 4) == 24);
  CHECK(checked_storage_nbytes_contiguous(Sizes{2, 3}, 4, 1) == 28);
  CHECK(checked_storage_nbytes_contiguous(Sizes{}, 8) == 8);
  CHECK(checked_storage_nbytes(Sizes{2, 3}, Sizes{10, 2}, 4) == 60);
  CHECK(checked_storage_nbytes(Sizes{2, 3}, Sizes{10, 2}, 4, 2) == 68);
  CHECK(checked_storage_nbytes(Sizes{2, 0}, Sizes{10, 2}, 4, 2) == 0);
  CHECK(checked_storage_nbytes(Sizes{kHuge}, Sizes{0}, 8) == 8);
  CHECK_THROWS_WITH(
      checked_storage_nbytes_contiguous(Sizes{kHuge}, 8),
      Catch::Contains("Storage size calculation overflowed with sizes=[4611686018427387904]"));
  CHECK_THROWS_WITH(
      checked_storage_nbytes(Sizes{3, 3}, Sizes{kHuge, kHuge}, 1),
      Catch::Contains("Storage size calculation overflowed with sizes=[3, 3] and strides="));
  CHECK_THROWS(checked_storage_nbytes_contiguous(Sizes{1}, 8, std::numeric_limits<size_t>::max()));
}

TEST_CASE("a tensor carries the keys of its backend", "[c10][tensor_impl]") {
  auto t = make_tensor({2});
  CHECK(
      t->key_set() ==
      DispatchKeySet(
          {DispatchKey::CPU, DispatchKey::ADInplaceOrView, DispatchKey::AutogradCPU, DispatchKey::AutocastCPU}));
  CHECK_FALSE(t->is_inference());
  CHECK(t->is_cpu());
  CHECK_FALSE(t->is_cuda());
  CHECK(t->layout() == kStrided);
  CHECK(t->device() == Device(DeviceType::CPU));
  CHECK(t->dtype() == caffe2::TypeMeta::Make<float>());
  CHECK(t->itemsize() == 4);
  {
    InferenceMode guard;
    auto i = make_tensor({2});
    CHECK(i->key_set() == DispatchKeySet({DispatchKey::CPU, DispatchKey::AutocastCPU}));
    CHECK(i->is_inference());
    CHECK_FALSE(i->version_counter().enabled());
  }
  auto m = make_meta();
  CHECK(m->is_meta());
  CHECK_FALSE(m->has_storage());
  TensorImpl view(TensorImpl::VIEW, Storage(t->storage()), DispatchKeySet(DispatchKey::CPU), t->dtype());
  CHECK(view.key_set() == DispatchKeySet(DispatchKey::CPU));
  t->_set_conj(true);
  CHECK(t->is_conj());
  t->_set_conj(false);
  CHECK_FALSE(t->key_set().has(DispatchKey::Conjugate));
  t->_change_backend_component_keys(Device(DeviceType::CUDA, 1));
  CHECK(t->key_set().has(DispatchKey::AutogradCUDA));
  CHECK(t->key_set().has(DispatchKey::AutocastCUDA));
  CHECK_FALSE(t->key_set().has(DispatchKey::AutocastCPU));
  CHECK(t->device() == Device(DeviceType::CUDA, 1));
}

TEST_CASE("data pointers follow offset, emptiness and type", "[c10][tensor_impl]") {
  auto t = make_tensor({2, 3});
  auto* base = static_cast<float*>(t->mutable_data());
  CHECK(reinterpret_cast<uintptr_t>(base) % 64 == 0);
  t->set_sizes_and_strides(Sizes{2}, Sizes{1}, 3);
  CHECK(t->data() == base + 3);
  CHECK(t->data_ptr_impl<float>() == base + 3);
  CHECK(t->mutable_data_dtype_initialized<float>() == base + 3);
  CHECK_THROWS_WITH(
      t->data_dtype_initialized<int>(), Catch::Contains("Tensor type mismatch, caller expects elements to be int"));
  t->set_sizes_contiguous(Sizes{0});
  CHECK(t->data() == nullptr);
  auto m = make_meta();
  m->set_sizes_contiguous(Sizes{2});
  CHECK_THROWS_WITH(m->data(), Catch::Contains("Cannot access data pointer of Tensor that doesn't have storage"));
  t->set_sizes_contiguous(Sizes{2});
  t->release_storage_and_set_meta_custom_data_ptr_error_msg_("data is gone");
  CHECK_THROWS_WITH(t->data(), Catch::Contains("data is gone"));
  CHECK_THROWS_WITH(t->storage(), Catch::Contains("data is gone"));
}

TEST_CASE("kinds of tensors with sizes of their own answer by virtual functions", "[c10][tensor_impl]") {
  auto t = make_intrusive<CustomSizes>();
  CHECK(t->sizes() == IntArrayRef({3, 4}));
  CHECK(t->numel() == 12);
  CHECK(t->dim() == 2);
  CHECK(t->size(-1) == 4);
  CHECK(t->sym_sizes()[1] == 4);
  CHECK(t->sym_numel() == 12);
  CHECK_FALSE(t->is_contiguous());
  CHECK(t->is_nested());
  CHECK_THROWS_WITH(t->storage(), Catch::Contains("Cannot access storage of CustomSizes"));
  CHECK_THROWS_AS(t->storage(), NotImplementedError);
  CHECK_THROWS_WITH(
      t->set_sizes_contiguous(Sizes{1}), Catch::Contains("tried to directly modify sizes for customized tensor"));
}

TEST_CASE("an undefined tensor is one object that refuses most calls", "[c10][tensor_impl]") {
  TensorImpl* undefined = UndefinedTensorImpl::singleton();
  CHECK(undefined->numel() == 0);
  CHECK_FALSE(undefined->has_storage());
  CHECK(undefined->key_set() == DispatchKeySet({DispatchKey::ADInplaceOrView, DispatchKey::AutogradOther}));
  CHECK_THROWS_WITH(undefined->strides(), Catch::Contains("strides() called on an undefined Tensor"));
  CHECK_THROWS_WITH(undefined->set_size(0, 1), Catch::Contains("on an undefined Tensor"));
  CHECK_THROWS_WITH(undefined->set_storage_offset(1), Catch::Contains("on an undefined Tensor"));
  CHECK_THROWS_WITH(undefined->storage(), Catch::Contains("Cannot access storage of UndefinedTensorImpl"));
  CHECK_THROWS_WITH(undefined->device(), Catch::Contains("tensor does not have a device"));
  CHECK_THROWS_WITH(undefined->device_type(), Catch::Contains("device_type cannot be run on undefined Tensor"));
  CHECK_THROWS(undefined->itemsize());
}

TEST_CASE("a detached copy shares storage and, if told, the version", "[c10][tensor_impl]") {
  auto t = make_tensor({2, 3, 4, 5, 6, 1});
  t->set_storage_offset(0);
  auto copy = t->shallow_copy_and_detach(t->version_counter(), true);
  CHECK(copy->sizes() == t->sizes());
  CHECK(copy->strides() == t->strides());
  CHECK(copy->storage().is_alias_of(t->storage()));
  CHECK(copy->key_set() == t->key_set());
  CHECK(copy->autograd_meta() == nullptr);
  t->bump_version();
  CHECK(copy->version_counter().current_version() == 1);
  CHECK_FALSE(copy->unique_version());

  auto apart = t->shallow_copy_and_detach(VariableVersion(7), true);
  t->bump_version();
  CHECK(apart->version_counter().current_version() == 7);

  auto other = make_tensor({9});
  CHECK(other->has_compatible_shallow_copy_type(t->key_set()));
  other->shallow_copy_from(t);
  CHECK(other->dim() == 6);
  CHECK(other->version_counter().current_version() == 0);
}

TEST_CASE("version counters are counted, shared and guarded", "[c10][tensor_impl]") {
  VariableVersion a(3);
  CHECK(a.unique());
  a.bump();
  VariableVersion b = a;
  VariableVersion c(b);
  CHECK_FALSE(a.unique());
  b.bump();
  CHECK(a.current_version() == 5);
  CHECK(c.current_version() == 5);
  a.set_version(100);
  CHECK(c.current_version() == 100);
  c = VariableVersion(1);
  b = std::move(c);
  CHECK(a.unique());
  CHECK(b.current_version() == 1);
  CHECK_THROWS_WITH(a.set_version(-1), Catch::Contains("Cannot set a version_counter to a value below 0"));

  VariableVersion off;
  VariableVersion off_copy = off;
  CHECK_FALSE(off_copy.enabled());
  CHECK_THROWS_WITH(off.current_version(), Catch::Contains("Inference tensors do not track version counter."));
  CHECK_THROWS_WITH(
      off.bump(), Catch::Contains("Inplace update to inference tensor outside InferenceMode is not allowed."));
  {
    InferenceMode guard;
    off.bump();
    auto t = make_tensor({1});
    CHECK_THROWS_WITH(t->set_version_counter(a), Catch::Contains("Cannot set version_counter for inference tensor"));
  }

  // Copies made at once by several threads share one count.
  for (int round = 0; round < 200; ++round) {
    VariableVersion shared(0);
    std::vector<VariableVersion> copies(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        copies[static_cast<size_t>(i)] = shared;
        copies[static_cast<size_t>(i)].bump();
      });
    }
    for (auto& thread : threads) {
      thread.join();
    }
    REQUIRE(shared.current_version() == 4);
    REQUIRE(copies[2].current_version() == 4);
  }
}

TEST_CASE("symbolic shapes answer the symbolic questions only", "[c10][tensor_impl]") {
  auto t = make_meta();
  const SymInt s0(SymNode(make_intrusive<Unknown>(7)));
  const std::vector<SymInt> sizes = {s0, 3};
  t->generic_set_sizes_contiguous(SymIntArrayRef(sizes));
  CHECK(t->has_symbolic_sizes_strides());
  CHECK(t->dim() == 2);
  CHECK(t->sym_size(-1) == 3);
  CHECK(t->sym_numel().guard_int(__FILE__, __LINE__) == 21);
  CHECK(t->sym_strides()[0] == 3);
  CHECK_THROWS_WITH(t->sizes(), Catch::Contains("Cannot call sizes() on tensor with symbolic sizes/strides"));
  CHECK_THROWS_WITH(t->numel(), Catch::Contains("Cannot call numel() on tensor with symbolic"));
  auto copy = t->shallow_copy_and_detach(VariableVersion(0), true);
  CHECK(copy->sym_numel().guard_int(__FILE__, __LINE__) == 21);
  const std::vector<SymInt> plain = {4, 3};
  t->generic_set_sizes_contiguous(SymIntArrayRef(plain));
  CHECK_FALSE(t->has_symbolic_sizes_strides());
  CHECK(t->sizes() == IntArrayRef({4, 3}));
}

TEST_CASE("a tensor of the size of three cache lines wraps a number", "[c10][tensor_impl]") {
  STATIC_REQUIRE(sizeof(TensorImpl) <= 192);
  auto t = make_tensor({});
  t->set_wrapped_number(true);
  CHECK(t->is_wrapped_number());
  CHECK_THROWS(make_tensor({1})->set_wrapped_number(true));
  CHECK_FALSE(t->requires_grad());
}

TEST_CASE("destructors of derived tensors see no reference", "[c10][tensor_impl]") {
  using TensorPtr = c10::intrusive_ptr<TensorImpl, c10::UndefinedTensorImpl>;
  uint32_t alone = 7;
  { const TensorPtr tensor = c10::make_intrusive<Watched>(alone); }
  CHECK(alone == 0);
  uint32_t shared = 7;
  {
    TensorPtr tensor = c10::make_intrusive<Watched>(shared);
    const TensorPtr other = tensor;
    tensor.reset();
    CHECK(shared == 7);
  }
  CHECK(shared == 0);
}
