// Snapshots of the allocator as files for PyTorch's memory viewer.
#include "mock_device.h"

#include <csrc/cuda/snapshot_format.h>

#include <cstdlib>
#include <fstream>

using namespace torch::cuda::detail;
using Catch::Matchers::Contains;
using c10::cuda::impl::AllocationHistory;
using c10::cuda::impl::DeviceMemoryPool;

TEST_CASE("a snapshot is written for PyTorch's memory viewer", "[cuda][allocator][snapshot]") {
  constexpr size_t kMiB = size_t{1} << 20;
  test::MockDevice device(64 * kMiB, 1024 * kMiB);
  DeviceMemoryPool pool(0, device);
  pool.record_history({true, &gather_stack, 100, AllocationHistory::Level::ALL, false, {}});
  void* a = pool.allocate(1000, nullptr);
  pool.allocate(5 * kMiB, reinterpret_cast<void*>(16));
  pool.release(a);
  CHECK_THROWS_AS(pool.allocate(100 * kMiB, nullptr), c10::OutOfMemoryError);

  const SnapshotContent content{pool.snapshot(), {pool.history()}, {}, "expandable_segments:True"};
  const std::string json = snapshot_as_json(content);
  CHECK_THAT(json, Contains("\"segments\":[{\"device\":0,\"address\":"));
  CHECK_THAT(json, Contains("\"segment_type\":\"large\",\"segment_pool_id\":[0,0],\"is_expandable\":true"));
  CHECK_THAT(
      json, Contains("\"size\":5242880,\"requested_size\":5242880,\"state\":\"active_allocated\",\"frames\":[{"));
  CHECK_THAT(json, Contains("{\"action\":\"free_requested\",\"addr\":"));
  CHECK_THAT(json, Contains("{\"action\":\"oom\",\"device_free\":"));
  CHECK_THAT(json, Contains("\"PYTORCH_CUDA_ALLOC_CONF\":\"expandable_segments:True\",\"max_split_size\":-1"));
  CHECK(std::count(json.begin(), json.end(), '{') == std::count(json.begin(), json.end(), '}'));

  const std::string pickle = snapshot_as_pickle(content);
  CHECK(pickle.substr(0, 4) == "\x80\x02}(");
  CHECK(pickle.back() == '.');
  CHECK_THAT(pickle, Contains(std::string("X\x08\0\0\0segments](}(", 17)));

  // To look at them with other programs.
  if (const char* folder = std::getenv("TEST_SNAPSHOT_FOLDER")) {
    std::ofstream(std::string(folder) + "/snapshot.json") << json;
    std::ofstream(std::string(folder) + "/snapshot.pickle", std::ios::binary) << pickle;
  }
}
