// Small parts of the CUDA runtime that need no device.
#include <aten/cuda/DeviceThreadHandles.h>
#include <aten/cuda/workspace_config.h>
#include <c10/cuda/impl/StreamId.h>

#include <catch2/catch.hpp>

#include <set>
#include <thread>

using namespace c10::cuda::impl;

TEST_CASE("stream ids name pool streams, handles and the default stream", "[cuda][stream]") {
  std::set<c10::StreamId> ids = {kDefaultStreamId};
  for (int priority = 0; priority < kStreamPriorities; ++priority) {
    for (int index = 0; index < kStreamsPerPool; ++index) {
      const c10::StreamId id = pool_stream_id({priority, index});
      CHECK(ids.insert(id).second);
      CHECK(is_valid_pool_stream(id));
      CHECK(pool_stream(id).priority == priority);
      CHECK(pool_stream(id).index == index);
    }
  }
  CHECK_FALSE(is_pool_stream(kDefaultStreamId));
  CHECK_FALSE(is_valid_pool_stream(pool_stream_id({0, kStreamsPerPool})));
  CHECK_FALSE(is_valid_pool_stream(-1));
  int dummy = 0;
  CHECK_FALSE(is_pool_stream(external_stream_id(&dummy)));
  CHECK(external_stream(external_stream_id(&dummy)) == &dummy);
  CHECK(external_stream_id(nullptr) == kDefaultStreamId);
  CHECK(external_stream_id(reinterpret_cast<void*>(1)) == kDefaultStreamId);
  CHECK(external_stream(external_stream_id(reinterpret_cast<void*>(2))) == reinterpret_cast<void*>(2));
}

TEST_CASE("workspace sizes are read from the environment's form", "[cuda][cublas]") {
  using at::cuda::parse_workspace_config;
  CHECK(parse_workspace_config(":4096:8") == size_t{32} << 20);
  CHECK(parse_workspace_config(":4096:2:16:8") == (2 * 4096 + 8 * 16) * size_t{1024});
  CHECK(parse_workspace_config(":0:0") == size_t{0});
  for (const char* bad :
       {"", ":", "4096:8", ":4096", ":4096:", ":4096:8:", ":4096:8:16", ":-1:8", ":a:b", ":99999999999:1"}) {
    INFO(bad);
    CHECK_FALSE(parse_workspace_config(bad));
  }
}

namespace {

struct CountedHandle {
  CountedHandle() : number(++made) {}
  int number;
  static inline int made = 0;
};

} // namespace

TEST_CASE("each thread has a handle for each device, and gives it back at its end", "[cuda][cublas]") {
  using Handles = at::cuda::DeviceThreadHandles<CountedHandle>;
  const int here = Handles::get(0).number;
  CHECK(Handles::get(0).number == here);
  CHECK(Handles::get(2).number != here);
  int first = 0;
  int second = 0;
  std::thread([&] { first = Handles::get(0).number; }).join();
  std::thread([&] { second = Handles::get(0).number; }).join();
  CHECK(first != here);
  CHECK(second == first);
  CHECK(CountedHandle::made == 3);
}
