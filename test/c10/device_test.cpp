#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/impl/FakeGuardImpl.h>
#include <c10/core/impl/InlineDeviceGuard.h>
#include <c10/core/impl/InlineStreamGuard.h>

#include <catch2/catch.hpp>

#include <string>
#include <unordered_set>

using namespace c10;
using Catch::Matchers::Contains;

TEST_CASE("devices are read from text", "[c10][device]") {
  CHECK(Device("cpu") == Device(kCPU));
  CHECK(Device("cuda") == Device(kCUDA));
  CHECK_FALSE(Device("cuda").has_index());
  CHECK(Device("cuda:1") == Device(kCUDA, 1));
  CHECK(Device("cuda:10").index() == 10);
  CHECK(Device("meta").is_meta());
  CHECK(Device("privateuseone:2").is_privateuseone());
  CHECK(Device("cpu:0") == Device(kCPU, 0));
  CHECK(Device("cpu:1") == Device(kCPU, 1)); // as programs write that number their devices by rank
  CHECK(Device("cuda:1").str() == "cuda:1");
  CHECK(Device(kCPU).str() == "cpu");
  CHECK(str(Device("cuda:3"), ' ', kMeta) == "cuda:3 meta");
}

TEST_CASE("text that is no device says what was expected", "[c10][device]") {
  CHECK_THROWS_WITH(Device(""), Contains("Device string must not be empty"));
  CHECK_THROWS_WITH(
      Device("gpu"), Contains("Expected one of cpu, cuda") && Contains("device type at start of device string: gpu"));
  for (const char* bad : {"cuda:", "cuda:-1", "cuda:01", "cuda:1a", ":0", "cuda:1:2", "cuda 1"}) {
    INFO(bad);
    CHECK_THROWS_WITH(Device(std::string(bad)), Contains("Invalid device string: '" + std::string(bad) + "'"));
  }
  CHECK_THROWS_WITH(Device("cuda:300"), Contains("Could not parse device index '300'"));
  CHECK_THROWS_WITH(Device(kCUDA, -2), Contains("Device index must be -1 or non-negative, got -2"));
}

TEST_CASE("devices can be hashed and named", "[c10][device]") {
  const std::unordered_set<Device> set = {Device("cuda:0"), Device("cuda:0"), Device("cuda"), Device("cpu")};
  CHECK(set.size() == 3);
  CHECK(DeviceTypeName(kCUDA) == "CUDA");
  CHECK(DeviceTypeName(kPrivateUse1, /*lower_case=*/true) == "privateuseone");
  CHECK(isValidDeviceType(kMeta));
  CHECK_FALSE(isValidDeviceType(static_cast<DeviceType>(100)));
  CHECK_THROWS_AS(register_privateuse1_backend("cuda"), Error);
}

TEST_CASE("channels-last strides and how they are recognised", "[c10][memory_format]") {
  const std::vector<int64_t> sizes = {2, 3, 4, 5};
  const auto strides = get_channels_last_strides_2d(IntArrayRef(sizes));
  CHECK(strides == std::vector<int64_t>{60, 1, 15, 3});
  CHECK(is_channels_last_strides_2d(sizes, strides));
  CHECK_FALSE(is_channels_last_strides_2d(sizes, IntArrayRef({60, 20, 5, 1})));
  CHECK(get_channels_last_strides_2d(IntArrayRef({3, 4, 5})) == std::vector<int64_t>{1, 15, 3});
  const std::vector<int64_t> sizes3d = {2, 3, 4, 5, 6};
  const auto strides3d = get_channels_last_strides_3d(IntArrayRef(sizes3d));
  CHECK(strides3d == std::vector<int64_t>{360, 1, 90, 18, 3});
  CHECK(is_channels_last_strides_3d(sizes3d, strides3d));
  // N111: ambiguous, taken for contiguous.
  CHECK_FALSE(is_channels_last_strides_2d(IntArrayRef({2, 1, 1, 1}), IntArrayRef({1, 1, 1, 1})));
  CHECK(is_channels_last_strides_2d(IntArrayRef({2, 1, 4, 4}), IntArrayRef({16, 1, 4, 1})));
  CHECK(str(MemoryFormat::ChannelsLast, ' ', kSparseCsr) == "ChannelsLast SparseCsr");
}

TEST_CASE("guards set back the device and the stream of a thread", "[c10][device]") {
  using Fake = impl::FakeGuardImpl<DeviceType::CUDA>;
  Fake::setDeviceIndex(1);
  {
    const impl::InlineDeviceGuard<Fake> guard(Device(kCUDA, 5));
    CHECK(Fake::getDeviceIndex() == 5);
    const impl::InlineStreamGuard<Fake> streams(Stream(Stream::UNSAFE, Device(kCUDA, 2), 77));
    CHECK(Fake::getDeviceIndex() == 2);
    CHECK(Fake::getCurrentStreamIdFor(2) == 77);
  }
  CHECK(Fake::getDeviceIndex() == 1);
  CHECK(Fake::getCurrentStreamIdFor(2) == 0);
  CHECK_THROWS_WITH(Fake::setDeviceIndex(8), Contains("there are 8 devices, got index 8"));
  Fake::setDeviceIndex(0);
}
