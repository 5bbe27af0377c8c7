// Ranks for tests.
#include "ranks.h"

#include "expect.h"

#include <catch2/catch.hpp>

#include <aten/parallel/Parallel.h>
#include <csrc/distributed/c10d/ProcessGroupShm.h>
#include <csrc/distributed/store/FileStore.h>
#include <csrc/distributed/store/HashStore.h>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace test {

GroupPtr shm_group(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds timeout) {
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank, size);
  auto options = c10d::ProcessGroupShm::Options::create(timeout);
  options->group_name = "test";
  group->setBackend(
      c10::kCPU, c10d::ProcessGroup::CUSTOM,
      c10::intrusive_ptr<c10d::Backend>(c10::make_intrusive<c10d::ProcessGroupShm>(store, rank, size, options)));
  group->setDefaultBackend(c10d::ProcessGroup::CUSTOM);
  return group;
}

void with_rank_threads(int size, const std::function<void(int, const GroupPtr&)>& body) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::string> errors(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank, shm_group(store, rank, size));
      } catch (const std::exception& error) {
        errors[rank] = error.what();
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (int rank = 0; rank < size; ++rank) {
    INFO("rank " << rank);
    CHECK(errors[rank] == "");
  }
  report_expectations();
}

namespace {

std::string read_all(int fd, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  char bytes[4096];
  for (;;) {
    pollfd poll{fd, POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (::poll(&poll, 1, std::max<int>(0, static_cast<int>(left.count()))) <= 0) {
      return text + "(late)";
    }
    const ssize_t n = ::read(fd, bytes, sizeof bytes);
    if (n <= 0) {
      return text;
    }
    text.append(bytes, static_cast<size_t>(n));
  }
}

[[noreturn]] void be_rank(int rank, int size, const std::string& path, int out, const auto& body) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string result;
  try {
    at::set_num_threads(1); // the pool's threads did not come along
    const auto store = c10::make_intrusive<c10d::FileStore>(path, size);
    result = body(rank, store);
  } catch (const std::exception& error) {
    result = std::string("error: ") + error.what();
  }
  [[maybe_unused]] const auto written = ::write(out, result.data(), result.size());
  ::_exit(0);
}

} // namespace

std::vector<std::string> with_rank_processes(
    int size, const std::function<std::string(int, const GroupPtr&)>& body, std::chrono::seconds deadline) {
  return with_store_processes(
      size,
      [&](int rank, const c10::intrusive_ptr<c10d::Store>& store) { return body(rank, shm_group(store, rank, size)); },
      deadline);
}

std::vector<std::string> with_store_processes(
    int size,
    const std::function<std::string(int, const c10::intrusive_ptr<c10d::Store>&)>& body,
    std::chrono::seconds deadline) {
  static int uses = 0;
  const std::string path =
      (std::filesystem::temp_directory_path() / ("ranks_" + std::to_string(::getpid()) + "_" + std::to_string(uses++)))
          .string();
  std::vector<pid_t> children;
  std::vector<int> pipes;
  for (int rank = 0; rank < size; ++rank) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      be_rank(rank, size, path, ends[1], body);
    }
    ::close(ends[1]);
    children.push_back(child);
    pipes.push_back(ends[0]);
  }
  const auto end = std::chrono::steady_clock::now() + deadline;
  std::vector<std::string> results;
  for (int rank = 0; rank < size; ++rank) {
    results.push_back(read_all(pipes[rank], end));
    ::close(pipes[rank]);
  }
  for (int rank = 0; rank < size; ++rank) {
    if (results[rank].find("(late)") != std::string::npos) {
      ::kill(children[rank], SIGKILL);
    }
    int status = 0;
    ::waitpid(children[rank], &status, 0);
    if (WIFSIGNALED(status)) {
      results[rank] += "signal " + std::to_string(WTERMSIG(status));
    }
  }
  std::filesystem::remove(path);
  return results;
}

} // namespace test
