// init_process_group and the free functions, in processes that are started as a launcher would.
#include <catch2/catch.hpp>

#include <torch/distributed.h>
#include <torch/torch.h>

#include <csrc/distributed/store/Socket.h>
#include <csrc/distributed/store/TCPStore.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace dist = torch::distributed;
using namespace std::chrono_literals;

namespace {

// Runs `body` in `size` processes; each returns whether all it checked was right.
bool in_processes(int size, const std::function<bool(int rank)>& body) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool right = false;
      try {
        at::set_num_threads(1);
        ::alarm(30);
        right = body(rank);
      } catch (const std::exception& error) {
        fprintf(stderr, "rank %d: %s\n", rank, error.what());
      }
      ::_exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  bool all = true;
  for (const pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    all = all && status == 0;
  }
  return all;
}

std::string fresh_file() {
  static int n = 0;
  return (std::filesystem::temp_directory_path() /
          ("session_" + std::to_string(::getpid()) + "_" + std::to_string(n++)))
      .string();
}

bool works_together(int rank, int size) {
  auto x = torch::full({3}, float(rank + 1));
  dist::all_reduce(x);
  bool right = x[0].item<float>() == float(size * (size + 1) / 2);
  const auto all = dist::all_gather(torch::full({2}, rank));
  right = right && all.size() == size_t(size) && all.back()[0].item<int>() == size - 1;
  const auto objects = dist::all_gather_object(c10::IValue("rank " + std::to_string(rank)));
  right = right && objects[0].toStringRef() == "rank 0";
  const auto object = dist::broadcast_object(rank == 0 ? c10::IValue(7) : c10::IValue(), 0);
  right = right && object.toInt() == 7;
  dist::barrier();
  return right && dist::get_rank() == rank && dist::get_world_size() == size;
}

} // namespace

TEST_CASE("A process without a launcher is a group of one", "[distributed][session]") {
  CHECK(in_processes(1, [](int) {
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
      ::unsetenv(name);
    }
    const bool before = dist::get_rank() == -1 && !dist::is_initialized();
    dist::Session session;
    return before && session.world_size() == 1 && works_together(0, 1) && dist::get_backend() == "gloo";
  }));
}

TEST_CASE("Processes meet by file, by address and by environment", "[distributed][session]") {
  const std::string path = fresh_file();
  CHECK(in_processes(3, [&](int rank) {
    dist::Session session(dist::InitOptions().init_method("file://" + path).rank(rank).world_size(3));
    return works_together(rank, 3);
  }));
  CHECK_FALSE(std::filesystem::exists(path));
  // The store is served here, at a port that is free, as a launcher's is.
  c10d::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  const c10d::TCPStore store("localhost", options);
  ::setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1);
  const std::string port = std::to_string(store.getPort());
  CHECK(in_processes(2, [&](int rank) {
    dist::Session session(
        dist::InitOptions().init_method("tcp://localhost:" + port + "?world_size=2&rank=" + std::to_string(rank)));
    return works_together(rank, 2);
  }));
  CHECK(in_processes(2, [&](int rank) {
    ::setenv("MASTER_ADDR", "localhost", 1);
    ::setenv("MASTER_PORT", port.c_str(), 1);
    ::setenv("RANK", std::to_string(rank).c_str(), 1);
    ::setenv("WORLD_SIZE", "2", 1);
    ::setenv("TORCHELASTIC_RUN_ID", "second", 1);
    dist::Session session;
    return works_together(rank, 2);
  }));
  ::unsetenv("TORCHELASTIC_USE_AGENT_STORE");
}

TEST_CASE("Processes of mpirun meet without an address", "[distributed][session]") {
  CHECK(in_processes(2, [&](int rank) {
    ::setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
    ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    ::setenv("PMIX_NAMESPACE", "job", 1);
    dist::Session session;
    return works_together(rank, 2);
  }));
}

TEST_CASE("new_group gives those that are not in it nothing", "[distributed][session]") {
  const std::string path = fresh_file();
  CHECK(in_processes(3, [&](int rank) {
    dist::Session session(dist::InitOptions().init_method("file://" + path).rank(rank).world_size(3));
    const auto group = dist::new_group({2, 0});
    if (rank == 1) {
      return group == nullptr;
    }
    auto x = torch::full({1}, float(rank));
    dist::all_reduce(x, dist::ReduceOp::MAX, group);
    dist::broadcast(x, 0, group);
    return x.item<float>() == 2 && dist::get_rank(group) == (rank == 2 ? 0 : 1);
  }));
}

TEST_CASE("init_process_group says what is missing", "[distributed][session]") {
  const auto init = [](const dist::InitOptions& options) { dist::init_process_group(options); };
  CHECK_THROWS_WITH(dist::all_reduce(torch::ones({1})), Catch::Contains("has not been initialized"));
  CHECK_THROWS_WITH(init(dist::InitOptions().init_method("http://x")), Catch::Contains("No rendezvous handler"));
  CHECK_THROWS_WITH(init(dist::InitOptions().init_method("tcp://host")), Catch::Contains("rank and world_size"));
  CHECK_THROWS_WITH(
      init(dist::InitOptions().init_method("tcp://host").rank(0).world_size(1)), Catch::Contains("host:port"));
  CHECK_THROWS_WITH(
      init(dist::InitOptions().init_method("tcp://h:1?size=2").rank(0).world_size(1)), Catch::Contains("unknown part"));
  CHECK_THROWS_WITH(init(dist::InitOptions().backend("ucx")), Catch::Contains("unknown backend"));
  CHECK_FALSE(dist::is_initialized());
}

TEST_CASE("A fake group has any size and ends at once", "[distributed][session]") {
  CHECK(in_processes(1, [](int) {
    dist::Session session(
        dist::InitOptions().backend("fake").store(c10::make_intrusive<c10d::FakeStore>()).rank(3).world_size(1024));
    auto output = torch::empty({1024, 2});
    dist::all_gather_into_tensor(output, torch::full({2}, 5.f));
    dist::all_reduce(output);
    dist::barrier();
    return dist::get_world_size() == 1024 && output.sum().item<float>() == 5 * 2048;
  }));
}

TEST_CASE("DistributedSampler's ranks share each epoch and go on in its middle", "[distributed][session]") {
  const auto take = [](int64_t rank, int64_t replicas, bool drop, int64_t epoch) {
    dist::DistributedSampler sampler(
        10, dist::DistributedSamplerOptions().rank(rank).num_replicas(replicas).drop_last(drop));
    sampler.set_epoch(epoch);
    return sampler.next(100).value();
  };
  std::set<size_t> seen;
  for (int rank = 0; rank < 3; ++rank) {
    const auto part = take(rank, 3, false, 0);
    CHECK(part.size() == 4);
    seen.insert(part.begin(), part.end());
    CHECK(take(rank, 3, true, 0).size() == 3);
  }
  CHECK(seen.size() == 10);
  CHECK(take(0, 3, false, 0) != take(0, 3, false, 1));

  // Two ranks take four examples each, and three go on with the other two.
  std::multiset<size_t> all;
  torch::serialize::OutputArchive archive;
  for (int rank = 0; rank < 2; ++rank) {
    dist::DistributedSampler sampler(10, dist::DistributedSamplerOptions().rank(rank).num_replicas(2).seed(3));
    sampler.set_epoch(5);
    const auto part = sampler.next(4).value();
    all.insert(part.begin(), part.end());
    if (rank == 0) {
      sampler.save(archive);
    }
  }
  std::stringstream file;
  archive.save_to(file);
  for (int rank = 0; rank < 2; ++rank) {
    file.seekg(0);
    torch::serialize::InputArchive state;
    state.load_from(file);
    dist::DistributedSampler sampler(
        10, dist::DistributedSamplerOptions().rank(rank).num_replicas(3).seed(3).drop_last(false));
    sampler.load(state);
    CHECK(sampler.epoch() == 5);
    const auto part = sampler.next(10).value();
    CHECK(part.size() == 1);
    all.insert(part.begin(), part.end());
    CHECK_FALSE(sampler.next(1));
    sampler.reset();
    CHECK(sampler.next(10).value().size() == 4);
  }
  CHECK(all.size() == 10);
  CHECK(std::set<size_t>(all.begin(), all.end()).size() == 10);
  CHECK_THROWS_WITH(
      dist::DistributedSampler(3, dist::DistributedSamplerOptions().rank(2).num_replicas(2)),
      Catch::Contains("Invalid rank"));
}
