#include <catch2/catch.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <aten/parallel/CpuQuota.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "test/support/matchers.h"

using at::Tensor;
using test::EqualsTensor;

TEST_CASE("parallel_for visits each index once", "[parallel]") {
  const int64_t grain = GENERATE(0, 1, 7, 1000, 5000);
  std::vector<std::atomic<int>> visits(3000);
  at::parallel_for(0, 3000, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ++visits[i];
    }
  });
  for (const auto& count : visits) {
    REQUIRE(count == 1);
  }
}

TEST_CASE("parallel_for of an empty range does nothing", "[parallel]") {
  at::parallel_for(5, 5, 1, [](int64_t, int64_t) { FAIL("called"); });
  at::parallel_for(5, 2, 1, [](int64_t, int64_t) { FAIL("called"); });
}

TEST_CASE("thread numbers stay below the number of threads", "[parallel]") {
  const int threads = at::get_num_threads();
  std::atomic<bool> ok{true};
  at::parallel_for(0, 1000, 1, [&](int64_t, int64_t) {
    if (at::get_thread_num() < 0 || at::get_thread_num() >= threads) {
      ok = false;
    }
  });
  CHECK(ok);
  CHECK(at::get_thread_num() == 0);
  CHECK_FALSE(at::in_parallel_region());
}

TEST_CASE("a parallel loop inside a parallel loop is serial", "[parallel]") {
  std::atomic<int64_t> sum{0};
  std::atomic<bool> split{false};
  at::parallel_for(0, 4, 1, [&](int64_t begin, int64_t end) {
    const bool inside = at::in_parallel_region();
    for (int64_t i = begin; i < end; ++i) {
      at::parallel_for(0, 100, 1, [&](int64_t b, int64_t e) {
        if (inside && e - b != 100) {
          split = true;
        }
        sum += e - b;
      });
    }
  });
  CHECK(sum == 400);
  CHECK_FALSE(split);
}

TEST_CASE("an exception in a body reaches the caller", "[parallel]") {
  CHECK_THROWS_AS(
      at::parallel_for(
          0, 100, 1,
          [](int64_t begin, int64_t) {
            if (begin == 0) {
              throw std::out_of_range("here");
            }
          }),
      std::out_of_range);
  int64_t seen = 0;
  at::parallel_for(0, 10, 100, [&](int64_t b, int64_t e) { seen += e - b; });
  CHECK(seen == 10);
}

TEST_CASE("parallel_reduce joins partial results in order", "[parallel]") {
  const int64_t sum = at::parallel_reduce(
      0, 100000, 10, int64_t{0},
      [](int64_t begin, int64_t end, int64_t start) {
        for (int64_t i = begin; i < end; ++i) {
          start += i;
        }
        return start;
      },
      std::plus<int64_t>());
  CHECK(sum == int64_t{100000} * 99999 / 2);
}

TEST_CASE("set_num_threads is obeyed and checked", "[parallel]") {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  CHECK(at::get_num_threads() == 1);
  at::parallel_for(0, 100, 1, [](int64_t begin, int64_t end) {
    CHECK(begin == 0);
    CHECK(end == 100);
  });
  CHECK_THROWS(at::set_num_threads(0));
  at::set_num_threads(before);
}

TEST_CASE("a limited thread runs loops itself", "[parallel]") {
  std::thread([] {
    const at::internal::ThreadLimitGuard serial;
    int calls = 0;
    at::parallel_for(0, 1000000, 1, [&](int64_t, int64_t) { ++calls; });
    if (calls != 1 || at::get_num_threads() != 1) {
      std::terminate();
    }
  }).join();
}

TEST_CASE("launched tasks run", "[parallel]") {
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i) {
    at::launch([&] { ++ran; });
  }
  while (ran < 10) {
    std::this_thread::yield();
  }
  CHECK(at::get_num_interop_threads() >= 1);
}

TEST_CASE("launched tasks have the settings of who launched them", "[parallel]") {
  const auto info = std::make_shared<c10::DebugInfoBase>();
  std::atomic<int> ran{0};
  std::atomic<bool> same{true};
  const auto check = [&](c10::DebugInfoBase* expected, bool grad_mode) {
    const auto task = [&, expected, grad_mode] {
      same = same && c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::TEST_INFO) == expected &&
          at::GradMode::is_enabled() == grad_mode;
      ++ran;
    };
    const int before = ran;
    at::launch(task);
    while (ran == before) {
      std::this_thread::yield();
    }
  };
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::TEST_INFO, info);
    const at::NoGradGuard no_grad;
    check(info.get(), false);
  }
  check(nullptr, true);
  CHECK(same);
}

TEST_CASE("callers in several threads use no more threads than are set", "[parallel][threads]") {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::atomic<int> running{0}, chunks{0}, above{0};
  const auto call = [&] {
    for (int i = 0; i < 500; ++i) {
      at::parallel_for(0, 2, 1, [&](int64_t begin, int64_t end) {
        ++chunks;
        if (++running > 2) {
          ++above;
        }
        volatile double sum = 0;
        for (int64_t k = 0; k < 20000 * (end - begin); ++k) {
          sum = sum + 1;
        }
        --running;
      });
    }
  };
  std::thread other(call);
  call();
  other.join();
  at::set_num_threads(before);
  // A helper ends the chunk that it has begun when the second caller comes; it takes none after that.
  INFO(above << " of " << chunks << " chunks began beside two others");
  CHECK(above * 4 < chunks);
}

TEST_CASE("a convolution that one thread planned runs in other threads", "[parallel][threads]") {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  at::manual_seed(3);
  // Grouped, strided and dilated: oneDNN takes its kernels with working memory for these.
  for (const int64_t groups : {1, 2, 4}) {
    const Tensor image = at::randn({2, 8, 19, 23}), weight = at::randn({8, 8 / groups, 3, 2});
    const auto run = [&] {
      const Tensor result = at::convolution(image, weight, {}, {1, 2}, {0, 1}, {2, 1}, false, {0, 0}, groups);
      const auto gradients = at::convolution_backward(
          result, image, weight, at::OptionalIntArrayRef(), {1, 2}, {0, 1}, {2, 1}, false, {0, 0}, groups,
          {true, true, false});
      return std::vector<Tensor>{result, std::get<0>(gradients), std::get<1>(gradients)};
    };
    const std::vector<Tensor> here = run();
    std::vector<Tensor> elsewhere[3];
    std::vector<std::thread> workers;
    for (auto& results : elsewhere) {
      workers.emplace_back([&] {
        for (int i = 0; i < 40; ++i) {
          results = run();
        }
      });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    for (const auto& results : elsewhere) {
      for (size_t i = 0; i < here.size(); ++i) {
        CHECK_THAT(results[i], EqualsTensor(here[i]));
      }
    }
  }
  at::set_num_threads(threads);
}

namespace {

/// Starts this program again for the case that prints its threads, with one more variable and on `processors`, and
/// gives what it printed.
std::string printed_by_child(const std::string& variable, int processors) {
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  REQUIRE(length > 0);
  program[length] = 0;
  std::vector<std::string> words;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "OMP_NUM_THREADS=", 16) != 0) {
      words.emplace_back(*entry);
    }
  }
  if (!variable.empty()) {
    words.push_back(variable);
  }
  std::vector<char*> environment;
  for (std::string& word : words) {
    environment.push_back(word.data());
  }
  environment.push_back(nullptr);
  std::string name = "this process prints its threads";
  char* const arguments[] = {program, name.data(), nullptr};
  cpu_set_t allowed, taken;
  REQUIRE(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  CPU_ZERO(&taken);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&taken) < processors; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &taken);
    }
  }
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    sched_setaffinity(0, sizeof(taken), &taken);
    dup2(ends[1], STDOUT_FILENO);
    execve(program, arguments, environment.data());
    _exit(1);
  }
  close(ends[1]);
  std::string text;
  char buffer[1024];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, got);
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

/// A file and the folders above it.
void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

} // namespace

TEST_CASE("this process prints its threads", "[.]") {
  std::printf("threads: %d\n", at::get_num_threads());
}

TEST_CASE("OMP_NUM_THREADS and the affinity mask set the number of threads", "[parallel][threads]") {
  using Catch::Matchers::Contains;
  CHECK_THAT(printed_by_child("OMP_NUM_THREADS=3", 1), Contains("threads: 3\n"));
  CHECK_THAT(printed_by_child("OMP_NUM_THREADS=1", 64), Contains("threads: 1\n"));
  CHECK_THAT(printed_by_child("", 1), Contains("threads: 1\n"));
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  if (const int granted = at::internal::cgroup_cpu_quota();
      CPU_COUNT(&allowed) >= 2 && (granted == 0 || granted >= 2)) {
    CHECK_THAT(printed_by_child("", 2), Contains("threads: 2\n"));
    // No number: as if it were not set.
    CHECK_THAT(printed_by_child("OMP_NUM_THREADS=many", 2), Contains("threads: 2\n"));
  }
}

TEST_CASE("limits of control groups set the number of threads", "[parallel][threads]") {
  const auto folder = std::filesystem::temp_directory_path() / ("cgroups_" + std::to_string(getpid()));
  const auto granted = [&] { return at::internal::cgroup_cpu_quota(folder / "self", folder / "mount"); };
  const auto mount = folder / "mount";
  CHECK(granted() == 0); // no file at all

  write_file(folder / "self", "0::/a/b\n");
  CHECK(granted() == 0);
  write_file(mount / "a/b/cpu.max", "max 100000\n");
  CHECK(granted() == 0);
  write_file(mount / "a/b/cpu.max", "350000 100000\n");
  CHECK(granted() == 4);
  write_file(mount / "a/cpu.max", "200000 100000\n"); // the parent's is tighter
  CHECK(granted() == 2);
  write_file(mount / "cpu.max", "10000 100000\n"); // a tenth of a processor is one thread
  CHECK(granted() == 1);
  std::filesystem::remove_all(folder);

  // A container: the path is the host's.
  write_file(folder / "self", "0::/../host/slice\n");
  write_file(mount / "cpu.max", "300000 100000\n");
  CHECK(granted() == 3);
  std::filesystem::remove_all(folder);

  const std::string hierarchy = GENERATE("cpu,cpuacct", "cpu");
  write_file(folder / "self", "12:cpuset:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/docker/x\n0::/docker/x\n");
  write_file(mount / hierarchy / "docker/x/cpu.cfs_quota_us", "-1\n");
  write_file(mount / hierarchy / "docker/x/cpu.cfs_period_us", "100000\n");
  CHECK(granted() == 0);
  write_file(mount / hierarchy / "docker/x/cpu.cfs_quota_us", "150000\n");
  CHECK(granted() == 2);
  write_file(mount / "cpuset/docker/x/cpu.cfs_quota_us", "50000\n"); // another hierarchy's
  CHECK(granted() == 2);
  write_file(mount / "unified/docker/x/cpu.max", "100000 100000\n");
  CHECK(granted() == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("joined tensors and added rows are the same for any number of threads", "[parallel][threads]") {
  const int before = at::get_num_threads();
  // Widths that no cut falls on, in a row of 1003 elements and one of 700 K.
  const std::vector<Tensor> parts{
      at::randn({700, 1}), at::randn({700, 0}), at::randn({700, 501}), at::randn({700, 501})};
  const std::vector<Tensor> rows{at::randn({333, 501}), at::randn({1, 501}), at::randn({400, 501})};
  const Tensor source = at::randn({5000, 300}), into = at::randn({50, 300}),
               places = at::randint(50, {5000}, at::kLong);
  // 16-bit numbers and back, NaN among them.
  Tensor numbers = at::randn({70001});
  numbers.narrow(0, 60, 10).fill_(std::numeric_limits<float>::quiet_NaN());
  const auto results = [&] {
    return std::vector<Tensor>{
        at::cat(parts, 1), at::cat(rows, 0), at::index_add(into, 0, places, source),
        numbers.to(at::kBFloat16).to(at::kFloat), numbers.to(at::kHalf).to(at::kFloat)};
  };
  at::set_num_threads(1);
  const auto want = results();
  CHECK_THAT(want[0].narrow(1, 502, 501).contiguous(), EqualsTensor(parts[3]));
  CHECK_THAT(want[1].narrow(0, 334, 400).contiguous(), EqualsTensor(rows[2]));
  CHECK(want[3][0].item<float>() == static_cast<float>(c10::BFloat16(numbers[0].item<float>())));
  for (const int threads : {2, 3, 7}) {
    at::set_num_threads(threads);
    const auto got = results();
    for (size_t i = 0; i < want.size(); ++i) {
      CHECK_THAT(got[i], EqualsTensor(want[i]));
    }
  }
  at::set_num_threads(before);
}

TEST_CASE("loops run to their end where the system gives few threads", "[parallel][threads]") {
  const int before = at::get_num_threads();
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit was{}, few{};
  REQUIRE(getrlimit(RLIMIT_AS, &was) == 0);
  few = {pages * sysconf(_SC_PAGESIZE) + (rlim_t{256} << 20), was.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &few) == 0); // stacks of some dozens of threads
  std::atomic<int64_t> visited{0};
  const auto run = [&](int threads) {
    at::set_num_threads(threads);
    at::parallel_for(0, 100000, 1, [&](int64_t begin, int64_t end) { visited += end - begin; });
  };
  run(500);
  run(70000); // more than a loop has chunks
  setrlimit(RLIMIT_AS, &was);
  run(3);
  at::set_num_threads(before);
  CHECK(visited == 300000);
}

namespace {

int threads_of_process() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

} // namespace

TEST_CASE("parts of a convolution by several threads give what one thread gives", "[parallel][threads]") {
  struct Case {
    int64_t batch, in, out, groups;
    at::ScalarType dtype;
    bool channels_last;
  };
  const auto c = GENERATE(
      Case{1, 32, 64, 1, at::kFloat, false}, Case{1, 20, 130, 1, at::kFloat, false},
      Case{2, 16, 200, 1, at::kFloat, true}, Case{5, 24, 40, 1, at::kFloat, false},
      Case{7, 32, 48, 2, at::kFloat, false}, Case{3, 16, 24, 1, at::kBFloat16, false},
      Case{2, 16, 256, 1, at::kBFloat16, false}, Case{1, 32, 64, 4, at::kFloat, false});
  CAPTURE(c.batch, c.in, c.out, c.groups, c.dtype, c.channels_last);
  const int before = at::get_num_threads();
  at::manual_seed(5);
  const auto format = c.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  const auto rounded = [&](const Tensor& t) { return t.to(c.dtype).contiguous(format); };
  const Tensor image = rounded(at::randn({c.batch, c.in, 29, 18})),
               weight = rounded(at::randn({c.out, c.in / c.groups, 3, 3})), bias = at::randn({c.out}).to(c.dtype);
  const auto run = [&](int threads) {
    at::set_num_threads(threads);
    const Tensor result = at::convolution(image, weight, bias, {1, 2}, {1, 1}, {1, 1}, false, {0, 0}, c.groups);
    const Tensor grad = rounded(at::sin(at::arange(result.numel()).to(at::kFloat)).view(result.sizes()));
    const auto [for_image, for_weight, for_bias] = at::convolution_backward(
        grad, image, weight, at::IntArrayRef({c.out}), {1, 2}, {1, 1}, {1, 1}, false, {0, 0}, c.groups,
        {true, true, true});
    return std::vector<Tensor>{result, for_image, for_weight, for_bias};
  };
  const std::vector<Tensor> want = run(1);
  at::parallel_for(0, 8, 1, [](int64_t, int64_t) {});
  run(8);
  const int processes_threads = threads_of_process();
  for (const int threads : {2, 3, 8}) {
    const std::vector<Tensor> got = run(threads);
    for (size_t i = 0; i < want.size(); ++i) {
      CAPTURE(threads, i);
      const Tensor scale = want[i].to(at::kFloat).abs().max();
      CHECK(
          (got[i].to(at::kFloat) - want[i].to(at::kFloat)).abs().max().item<float>() <=
          scale.item<float>() * (c.dtype == at::kFloat ? 1e-5f : 1e-2f));
    }
  }
  CHECK(threads_of_process() == processes_threads);
  at::set_num_threads(before);
}
