// The flight recorder, and the small helpers of backends.
#include "expect.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/csrc/distributed/c10d/Backoff.hpp>
#include <torch/csrc/distributed/c10d/FlightRecorder.hpp>
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupWrapper.hpp>
#include <torch/csrc/distributed/c10d/Utils.hpp>
#include <torch/csrc/distributed/c10d/exception.h>
#include <torch/csrc/distributed/c10d/sequence_num.hpp>
#include <torch/torch.h>

#include <cstdlib>

using namespace c10d;
using namespace std::chrono_literals;
using test::expect;
using test::expect_error;
using test::GroupPtr;
using Tensors = std::vector<at::Tensor>;

TEST_CASE("The flight recorder keeps what operations were about", "[distributed][recorder]") {
  const auto results = test::with_rank_processes(2, [](int, const GroupPtr& group) {
    reset_fr_trace();
    Tensors one{at::ones({16, 16})};
    group->allreduce(one)->wait();
    group->barrier()->wait();
    const std::string words = describe_fr_trace("test", 2);
    const bool told = words.find("allreduce number 1 of [16, 16] Float: completed in ") != std::string::npos &&
        words.find("barrier number 2: completed in ") != std::string::npos;
    const std::string json = dump_fr_trace_json(true, false);
    const bool in_json = json.find("\"profiling_name\": \"shm:all_reduce\"") != std::string::npos &&
        json.find("\"input_sizes\": [[16, 16]]") != std::string::npos &&
        json.find("\"version\": \"2.10\"") != std::string::npos;
    const bool none_active = dump_fr_trace_json(true, true).find("\"entries\": []") != std::string::npos;
    return std::string(told ? "told " : words) + (in_json ? "json " : json) + (none_active ? "ended" : "active") +
        (dump_fr_trace(true, false, false).substr(0, 2) == "\x80\x02" ? " pickle" : " no pickle");
  });
  CHECK(results == std::vector<std::string>(2, "told json ended pickle"));
}

TEST_CASE("A failure tells the last operations of its rank", "[distributed][recorder]") {
  const auto results = test::with_rank_processes(2, [](int rank, const GroupPtr& group) {
    Tensors one{at::ones({3})};
    group->allreduce(one)->wait();
    Tensors other{at::ones({4 + rank})};
    try {
      group->allreduce(other)->wait();
    } catch (const c10::DistBackendError& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  });
  for (int rank = 0; rank < 2; ++rank) {
    CHECK_THAT(
        results[rank],
        Catch::Contains("allreduce number 1 of [3] Float: completed in ") &&
            Catch::Contains("allreduce number 2 of [" + std::to_string(4 + rank) + "] Float: begun, not ended"));
  }
}

TEST_CASE("ProcessGroupWrapper names what the ranks call", "[distributed][recorder]") {
  const auto results = test::with_store_processes(2, [](int rank, const c10::intrusive_ptr<Store>& there) {
    const auto pg = [&](const char* name) -> c10::intrusive_ptr<Backend> {
      return c10::make_intrusive<ProcessGroupGloo>(c10::make_intrusive<PrefixStore>(name, there), rank, 2);
    };
    ProcessGroupWrapper wrapper(pg("a"), pg("b"));
    Tensors one{at::ones({2})};
    wrapper.allreduce(one)->wait();
    Tensors other{at::ones({2 + rank})};
    try {
      wrapper.allreduce(other)->wait();
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  });
  CHECK_THAT(
      results[0],
      Catch::Contains(
          "Rank 0 is running collective: ALLREDUCE number 2 [2] Float cpu, but Rank 1 is running collective: "
          "ALLREDUCE number 2 [3] Float cpu"));
}

TEST_CASE("Backoffs grow up to their limit, or stay", "[distributed][recorder]") {
  ExponentialBackoffWithJitter backoff;
  backoff.initialInterval = 100ms;
  backoff.randomizationFactor = 0;
  backoff.multiplier = 2;
  backoff.maxInterval = 500ms;
  std::vector<int64_t> waits;
  for (int i = 0; i < 5; ++i) {
    waits.push_back(backoff.nextBackoff().count());
  }
  CHECK(waits == std::vector<int64_t>{100, 200, 400, 500, 500});
  backoff.reset();
  backoff.randomizationFactor = 0.5;
  for (int i = 0; i < 20; ++i) {
    const auto wait = backoff.nextBackoff();
    CHECK((wait >= 50ms && wait <= 500ms));
  }
  backoff.multiplier = 0.5;
  CHECK_THROWS_AS(backoff.nextBackoff(), c10::ValueError);
  FixedBackoff fixed(7ms);
  CHECK(fixed.nextBackoff() == 7ms);
}

TEST_CASE("Numbers of sequences become bytes and back", "[distributed][recorder]") {
  CHECK(fromVec(toVec<char>(0x0102fffe, 8)) == 0x0102fffe);
  CHECK(toVec<uint8_t>(0x0201, 2) == std::vector<uint8_t>{1, 2});
  SequenceNum number;
  CHECK_THROWS_AS(number.get(), c10::Error);
  number.set(5);
  CHECK(number.getAndIncrement() == 5);
  const SequenceNum copy = number;
  CHECK(copy.get() == 6);
}

TEST_CASE("Backends' checks name what is wrong", "[distributed][recorder]") {
  const auto fault = [](const std::function<void(const std::function<void(const std::string&)>&)>& check) {
    std::string text;
    check([&](const std::string& what) { text = what; });
    return text;
  };
  CHECK(fault([](auto& fn) { assertRootRank(fn, 2, 2); }) == "invalid root rank: 2");
  CHECK(fault([](auto& fn) { assertSingleElement(fn, Tensors{}); }) == "requires a single-element tensor list");
  CHECK(fault([](auto& fn) {
          assertSizesMatch(fn, {2}, Tensors{at::ones({3})}, 0);
        }) == "invalid tensor size at index 0 (expected (2), got (3))");
  CHECK_THROWS_WITH(
      assertSameSizeAndType({at::ones({2}), at::ones({3})}),
      Catch::Contains("argument contains mixed types ((2) and (3))"));
  CHECK(split(',', "a,b") == std::vector<std::string>{"a", "b"});
  Tensors two{at::ones({2}), at::zeros({1, 2})};
  CHECK(at::equal(flattenDenseTensors(two), at::tensor({1.f, 1.f, 0.f, 0.f})));
  CHECK(newLikeFlat(two).sizes() == at::IntArrayRef({2, 2}));
  CHECK(getTensorsNumel(two) == 4);
  ::setenv("TENSOR_TEST_OLD_NAME", "yes", 1);
  CHECK(getCvarBool({"TENSOR_TEST_NAME", "TENSOR_TEST_OLD_NAME"}, false));
  CHECK(getCvarInt({"TENSOR_TEST_NAME"}, 7) == 7);
  CHECK_THROWS_WITH(getCvarInt({"TENSOR_TEST_OLD_NAME"}, 7), Catch::Contains("is not a number"));
  ::unsetenv("TENSOR_TEST_OLD_NAME");
  int start = 0;
  int stride = 0;
  getGlobalRankStartAndStride({1, 3, 5}, start, stride);
  CHECK((start == 1 && stride == 2));
  CHECK_THROWS_AS([] { C10D_THROW_ERROR(TimeoutError, "late"); }(), c10::DistNetworkError);
}

TEST_CASE("Observers see the collective of their thread", "[distributed][recorder]") {
  RECORD_PARAM_COMMS(
      std::make_tuple(int64_t(4), false), std::make_tuple("0", "all"), 1, "allreduce", 3, 3, at::kFloat,
      std::vector<int64_t>(), std::vector<int64_t>(), 0, 1, 2);
  const auto* info =
      static_cast<torch::ParamCommsDebugInfo*>(c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PARAM_COMMS_INFO));
  REQUIRE(info != nullptr);
  CHECK((info->getCollectiveName() == "allreduce" && info->getSequenceNumber() == 4));
  CHECK(info->getGroupRanks() == std::vector<int64_t>{0, 1});
}
