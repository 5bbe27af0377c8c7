#include <catch2/catch.hpp>

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/thread_pool.h>

#include <atomic>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

using namespace c10;

namespace {

// A device whose current index and streams are plain variables.
struct FakeGuard final : impl::DeviceGuardImplInterface {
  DeviceType type() const override {
    return DeviceType::PrivateUse1;
  }
  Device exchangeDevice(Device d) const override {
    const Device before = getDevice();
    current = d.index();
    return before;
  }
  Device getDevice() const override {
    return Device(DeviceType::PrivateUse1, current);
  }
  void setDevice(Device d) const override {
    current = d.index();
  }
  void uncheckedSetDevice(Device d) const noexcept override {
    current = d.index();
  }
  Stream getStream(Device d) const override {
    return Stream(Stream::UNSAFE, d, streams[d.index()]);
  }
  Stream exchangeStream(Stream s) const override {
    const Stream before = getStream(s.device());
    streams[s.device_index()] = s.id();
    return before;
  }
  DeviceIndex deviceCount() const noexcept override {
    return 4;
  }
  void record(void** event, const Stream&, const DeviceIndex, const EventFlag) const override {
    static int made;
    *event = &made;
    ++events;
  }
  bool queryEvent(void*) const override {
    return true;
  }
  void block(void*, const Stream& stream) const override {
    blocked = stream.id();
  }
  void destroyEvent(void*, const DeviceIndex) const noexcept override {
    --events;
  }

  static inline DeviceIndex current = 0;
  static inline std::map<DeviceIndex, StreamId> streams;
  static inline int events = 0;
  static inline StreamId blocked = -1;
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, FakeGuard)

Device fake(DeviceIndex index) {
  return Device(DeviceType::PrivateUse1, index);
}

Stream fake_stream(DeviceIndex index, StreamId id) {
  return Stream(Stream::UNSAFE, fake(index), id);
}

struct PlainGenerator final : GeneratorImpl {
  PlainGenerator() : GeneratorImpl(Device(DeviceType::CPU), DispatchKeySet(DispatchKey::CPU)) {}
  void set_current_seed(uint64_t seed) override {
    seed_ = seed;
  }
  uint64_t current_seed() const override {
    return seed_;
  }
  uint64_t seed() override {
    return seed_ = detail::getNonDeterministicRandom();
  }
  void set_state(const TensorImpl&) override {}
  intrusive_ptr<TensorImpl> get_state() const override {
    return {};
  }
  PlainGenerator* clone_impl() const override {
    auto* copy = new PlainGenerator();
    copy->seed_ = seed_;
    return copy;
  }
  uint64_t seed_ = default_rng_seed_val;
};

} // namespace

TEST_CASE("device guards restore the device", "[c10][device]") {
  {
    DeviceGuard guard(fake(2));
    CHECK(FakeGuard::current == 2);
    CHECK(guard.original_device() == fake(0));
    guard.set_index(3);
    CHECK(guard.current_device() == fake(3));
    DeviceGuard no_index(fake(-1));
    CHECK(no_index.current_device() == fake(3));
  }
  CHECK(FakeGuard::current == 0);
  {
    OptionalDeviceGuard guard;
    CHECK_FALSE(guard.current_device().has_value());
    guard.reset_device(fake(1));
    CHECK(FakeGuard::current == 1);
    OptionalDeviceGuard none{std::optional<Device>()};
    CHECK_FALSE(none.original_device().has_value());
  }
  CHECK(FakeGuard::current == 0);
  DeviceGuard cpu(Device(DeviceType::CPU));
  CHECK(cpu.current_device().is_cpu());
  CHECK_THROWS_WITH(DeviceGuard(Device(DeviceType::FPGA, 0)), Catch::Contains("is not linked with support for"));
  CHECK_FALSE(impl::hasDeviceGuardImpl(DeviceType::FPGA));
  CHECK(impl::getDeviceGuardImpl(DeviceType::Meta)->type() == DeviceType::Meta);
}

TEST_CASE("stream guards restore streams and device", "[c10][device]") {
  FakeGuard::streams = {{0, 10}, {1, 11}};
  {
    StreamGuard guard(fake_stream(1, 5));
    CHECK(FakeGuard::current == 1);
    CHECK(FakeGuard::streams[1] == 5);
    CHECK(guard.original_stream() == fake_stream(0, 10));
    guard.reset_stream(fake_stream(0, 6));
    CHECK(FakeGuard::streams[1] == 11);
    CHECK(FakeGuard::streams[0] == 6);
  }
  CHECK(FakeGuard::current == 0);
  CHECK(FakeGuard::streams[0] == 10);
  {
    const Stream streams[] = {fake_stream(0, 1), fake_stream(1, 2), fake_stream(0, 3)};
    MultiStreamGuard guard(streams);
    CHECK(FakeGuard::streams[0] == 3);
  }
  CHECK(FakeGuard::streams[0] == 10);
  CHECK(FakeGuard::streams[1] == 11);
  OptionalStreamGuard optional;
  optional.reset_stream(fake_stream(1, 9));
  optional.reset();
  CHECK(FakeGuard::streams[1] == 11);
  const Stream s = fake_stream(1, 77);
  CHECK(Stream::unpack3(s.id(), s.device_index(), s.device_type()) == s);
  CHECK(s.hash() != fake_stream(1, 78).hash());
  CHECK_THROWS_WITH(s.query(), Catch::Contains("Backend doesn't support querying streams"));
  CHECK(Stream(Stream::DEFAULT, Device(DeviceType::CPU)).query());
}

TEST_CASE("events are made when recorded and destroyed once", "[c10][device]") {
  {
    Event event(DeviceType::PrivateUse1);
    CHECK(event.query());
    CHECK(FakeGuard::events == 0);
    event.record(fake_stream(1, 5));
    CHECK(event.device_index() == 1);
    Event moved = std::move(event);
    fake_stream(0, 42).wait(moved);
    CHECK(FakeGuard::blocked == 42);
    CHECK_THROWS_WITH(
        moved.record(Stream(Stream::DEFAULT, Device(DeviceType::CPU))),
        Catch::Contains("does not match recording stream's device type"));
    CHECK_THROWS_WITH(moved.elapsedTime(moved), Catch::Contains("enable_timing=True"));
  }
  CHECK(FakeGuard::events == 0);
  Event cpu(DeviceType::CPU);
  CHECK_THROWS_WITH(
      cpu.record(Stream(Stream::DEFAULT, Device(DeviceType::CPU))), Catch::Contains("doesn't support events"));
}

TEST_CASE("generators clone and refuse what they cannot", "[c10][device]") {
  auto g = make_intrusive<PlainGenerator>();
  g->set_current_seed(5);
  auto copy = g->clone();
  CHECK(copy->current_seed() == 5);
  CHECK(copy.get() != g.get());
  CHECK(copy->device().is_cpu());
  CHECK_THROWS_WITH(
      g->graphsafe_set_state(copy), Catch::Contains("graphsafe_set_state is not supported in this Generator"));
  CHECK_THROWS_AS(g->graphsafe_get_state(), c10::NotImplementedError);
  CHECK_THROWS_WITH(g->set_offset(4), Catch::Contains("set_offset is not supported in this Generator"));
  CHECK_THROWS_AS(g->get_offset(), c10::NotImplementedError);
  std::set<uint64_t> seeds;
  for (int i = 0; i < 10; ++i) {
    seeds.insert(g->seed());
    CHECK(detail::getNonDeterministicRandom(true) < (uint64_t{1} << 53));
  }
  CHECK(seeds.size() == 10);
}

TEST_CASE("tensor options keep what is set and default the rest", "[c10][device]") {
  const TensorOptions options = dtype(kLong).device(Device(DeviceType::CUDA, 1)).requires_grad(true);
  CHECK(options.dtype() == caffe2::TypeMeta::Make<int64_t>());
  CHECK(options.device_index() == 1);
  CHECK(options.requires_grad());
  CHECK_FALSE(options.has_layout());
  CHECK(options.layout() == kStrided);
  CHECK(options.computeDispatchKey() == DispatchKey::CUDA);
  CHECK(TensorOptions(kSparse).computeDispatchKey() == DispatchKey::SparseCPU);
  CHECK(TensorOptions(kSparseCsr).device(DeviceType::CUDA).computeDispatchKey() == DispatchKey::SparseCsrCUDA);
  CHECK(TensorOptions(kQInt8).computeDispatchKey() == DispatchKey::QuantizedCPU);
  CHECK(TensorOptions(DeviceType::Meta).computeDispatchKey() == DispatchKey::Meta);
  CHECK(TensorOptions("cuda:1").device() == Device(DeviceType::CUDA, 1));
  CHECK(TensorOptions(kMkldnn).computeDispatchKey() == DispatchKey::MkldnnCPU);
  CHECK_THROWS_AS(TensorOptions(kMkldnn).device(DeviceType::CUDA).computeDispatchKey(), c10::NotImplementedError);
  CHECK_THROWS_WITH(
      TensorOptions(kSparse).device(DeviceType::Vulkan).computeDispatchKey(),
      Catch::Contains("Unsupported device type for sparse layout"));
  const TensorOptions merged = options.merge_in(TensorOptions(kDouble));
  CHECK(merged.dtype() == caffe2::TypeMeta::Make<double>());
  CHECK(merged.device().is_cuda());
  CHECK(merged.merge_memory_format(MemoryFormat::ChannelsLast).memory_format_opt() == MemoryFormat::ChannelsLast);
  TensorOptions changed = options;
  CHECK(changed.dtype<float>().dtype() == caffe2::TypeMeta::Make<float>());
  CHECK(options.type_equal(TensorOptions(kLong).device(DeviceType::CUDA)));
  CHECK_THAT(toString(TensorOptions()), Catch::Contains("dtype=float (default), device=cpu (default)"));
  CHECK(dispatchKeyToTensorOptions(DispatchKey::SparseCUDA).layout() == kSparse);
  CHECK(dispatchKeyToDeviceType(DispatchKey::AutogradMeta) == DeviceType::Meta);
  CHECK_THROWS(dispatchKeyToDeviceType(DispatchKey::Tracer));
}

TEST_CASE("the thread pool runs every task and survives those that throw", "[c10][device]") {
  ThreadPool pool(3);
  CHECK(pool.size() == 3);
  std::atomic<int> sum{0};
  std::atomic<int> inside{0};
  for (int i = 1; i <= 100; ++i) {
    pool.run([&, i] {
      sum += i;
      inside += pool.inThreadPool() ? 1 : 0;
    });
  }
  pool.run([] { throw std::runtime_error("task failed"); });
  pool.waitWorkComplete();
  CHECK(sum == 5050);
  CHECK(inside == 100);
  CHECK_FALSE(pool.inThreadPool());
  CHECK(pool.numAvailable() == 3);
  CHECK(TaskThreadPoolBase::defaultNumThreads() >= 1);
}

TEST_CASE("only devices with a caching allocator give one", "[c10][device]") {
  CHECK_THROWS_WITH(getDeviceAllocator(DeviceType::CPU), Catch::Contains("not supported for CPU"));
}
