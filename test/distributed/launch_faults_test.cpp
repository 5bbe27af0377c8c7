// tensor-launch when agents are killed, asked to end, stopped or lost: no process, segment, port or file is left.
#include "fault_seeds.h"

#include <catch2/catch.hpp>

#include <torch/torch.h>

#include <csrc/distributed/launch/agent.h>
#include <csrc/distributed/session/collectives.h>
#include <csrc/distributed/session/init.h>
#include <csrc/distributed/store/TCPStore.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <set>
#include <thread>

namespace fs = std::filesystem;
namespace launch = torch::distributed::launch;
using namespace std::chrono_literals;

namespace {

constexpr const char* kMark = "TENSOR_TEST_JOB";
constexpr const char* kRank = "a rank of a launched job works until it is ended";

std::string content(const fs::path& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    names.insert(entry.path().filename());
  }
  return names;
}

// A job of agents that are processes of their own. Its ranks, and what they start, carry a variable by which they are
// found; their temporary files go to a folder of their own.
class Job {
 public:
  Job()
      : mark_(c10::str(::getpid(), "_", number_++)),
        folder_(fs::temp_directory_path() / ("launched_" + mark_)),
        port_(20000 + (::getpid() * 7 + number_ * 13) % 12000) {
    fs::create_directories(folder_ / "tmp");
  }
  ~Job() {
    for (const pid_t agent : agents_) {
      if (agent > 0) {
        ::kill(agent, SIGKILL);
        ::waitpid(agent, nullptr, 0);
      }
    }
    for (const pid_t pid : processes()) {
      ::kill(pid, SIGKILL);
    }
    fs::remove_all(folder_);
  }

  int port() const {
    return port_;
  }
  // Starts the agent of a machine; returns its process.
  pid_t start(std::vector<std::string> options, const std::vector<std::string>& command) {
    options.push_back("--master-port=" + std::to_string(port_));
    options.insert(options.end(), command.begin(), command.end());
    const size_t node = agents_.size();
    const pid_t agent = ::fork();
    if (agent == 0) {
      ::setenv(kMark, mark_.c_str(), 1);
      ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
      std::ofstream output(output_of(node));
      int code = 99;
      try {
        auto arguments = launch::parse_arguments(options);
        arguments.lost_after = 2s;
        arguments.grace = 1s;
        code = launch::run(arguments, [&](const std::string& text) { output << text << std::flush; });
      } catch (const std::exception& error) {
        output << error.what() << std::flush;
      }
      ::_exit(code);
    }
    agents_.push_back(agent);
    return agent;
  }
  fs::path output_of(size_t node) const {
    return folder_ / ("output" + std::to_string(node));
  }
  std::string output(size_t node) const {
    return content(output_of(node));
  }
  // Waits until there are so many processes of ranks.
  bool await_processes(size_t count, std::chrono::milliseconds limit) const {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (processes().size() != count) {
      if (std::chrono::steady_clock::now() >= deadline) {
        return false;
      }
      std::this_thread::sleep_for(10ms);
    }
    return true;
  }
  // The exit code of a machine's agent, or 128 and the signal that has ended it; -1 if it still runs at the limit.
  int await_agent(size_t node, std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (::waitpid(agents_[node], &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() >= deadline) {
        return -1;
      }
      std::this_thread::sleep_for(5ms);
    }
    agents_[node] = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  // What is left of the job, in words.
  std::string left() const {
    std::string text;
    for (const pid_t pid : processes()) {
      text += c10::str("process ", pid, "; ");
    }
    for (const auto& name : names_in(folder_ / "tmp")) {
      text += "file " + name + "; ";
    }
    try {
      c10d::TCPStoreOptions options;
      options.port = static_cast<uint16_t>(port_);
      options.isServer = true;
      options.waitWorkers = false;
      c10d::TCPStore("127.0.0.1", options);
    } catch (const std::exception& error) {
      text += error.what();
    }
    return text;
  }

 private:
  std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    for (const auto& name : names_in("/proc")) {
      const auto environment = content("/proc/" + name + "/environ"); // empty for who has ended
      if (environment.find(std::string(kMark) + "=" + mark_ + '\0') != std::string::npos) {
        found.push_back(std::atoi(name.c_str()));
      }
    }
    return found;
  }

  static inline int number_ = 0;
  const std::string mark_;
  const fs::path folder_;
  const int port_;
  std::vector<pid_t> agents_;
};

// Whether the process reads the signal from a descriptor.
bool awaits(pid_t pid, int signal) {
  std::istringstream status(content("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("SigBlk:", 0) == 0) {
      return ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1) != 0;
    }
  }
  return false;
}

const std::vector<std::string> kSleep = {"/bin/sh", "-c", "sleep 74.5 & wait"}; // two processes

std::vector<std::string> machine(int node, const std::string& nodes = "2") {
  return {"--nnodes=" + nodes, "--node-rank=" + std::to_string(node), "--master-addr=127.0.0.1"};
}

} // namespace

TEST_CASE("a rank of a launched job works until it is ended", "[.]") {
  torch::distributed::Session session;
  at::Tensor x = at::ones({1000});
  for (;;) {
    torch::distributed::all_reduce(x);
    x.fill_(1);
  }
}

TEST_CASE("Nothing is left of a job whose agent is ended at a random point", "[distributed][launch][faults][slow]") {
  const auto segments = names_in("/dev/shm");
  const std::string program = fs::read_symlink("/proc/self/exe");
  const auto [first, runs] = test::fault_seeds(12);
  REQUIRE(runs > 0);
  for (uint32_t run = first; run < first + runs; ++run) {
    std::mt19937 random(run);
    const int signal = std::vector<int>{SIGKILL, SIGTERM, SIGINT}[run % 3];
    const auto delay = std::chrono::milliseconds(random() % 800);
    // Of half the jobs a rank is a script that starts the program.
    const std::string script = run % 2 == 0 ? "exec \"$0\" \"$1\"" : "\"$0\" \"$1\"; exit $?";
    INFO("run " << run << ", signal " << signal << " after " << delay.count() << " ms");
    Job job;
    const pid_t agent =
        job.start({"--nproc-per-node=" + std::to_string(2 + random() % 2)}, {"/bin/sh", "-c", script, program, kRank});
    std::this_thread::sleep_for(delay);
    ::kill(agent, signal);
    CHECK(job.await_agent(0, 5s) == 128 + signal);
    CHECK(job.await_processes(0, 3s));
    CHECK(job.left() == "");
  }
  CHECK(names_in("/dev/shm") == segments);
}

TEST_CASE("What ranks have started ends with an agent that is killed", "[distributed][launch][faults]") {
  Job job;
  const pid_t agent = job.start({"--nproc-per-node=2"}, kSleep);
  REQUIRE(job.await_processes(4, 5s));
  ::kill(agent, SIGKILL);
  CHECK(job.await_agent(0, 5s) == 128 + SIGKILL);
  CHECK(job.await_processes(0, 3s));
  CHECK(job.left() == "");
}

TEST_CASE("A job of two machines ends when one of the agents does", "[distributed][launch][faults]") {
  const int node = GENERATE(0, 1);
  const int signal = GENERATE(SIGKILL, SIGTERM, SIGSTOP);
  CAPTURE(node, signal);
  Job job;
  const pid_t agents[] = {job.start(machine(0), kSleep), job.start(machine(1), kSleep)};
  REQUIRE(job.await_processes(4, 10s));
  std::this_thread::sleep_for(1500ms); // each has told that it lives
  ::kill(agents[node], signal);
  const size_t other = node == 0 ? 1 : 0;
  CHECK(job.await_agent(other, 8s) == 1);
  const auto output = job.output(other);
  CHECK_THAT(output, Catch::Contains("tensor-launch: the job ends: machine " + std::to_string(node)));
  if (node == 1) {
    CHECK_THAT(output, Catch::Contains(signal == SIGTERM ? "was ended by signal 15" : "does not answer any more"));
  }
  if (signal == SIGSTOP) {
    ::kill(agents[node], SIGKILL);
  }
  CHECK(job.await_agent(static_cast<size_t>(node), 5s) == 128 + (signal == SIGSTOP ? SIGKILL : signal));
  CHECK(job.await_processes(0, 3s));
  CHECK(job.left() == "");
}

TEST_CASE("An agent whose output waits for a reader is not lost", "[distributed][launch][faults]") {
  Job job;
  REQUIRE(::mkfifo(job.output_of(0).c_str(), 0600) == 0);
  const std::vector<std::string> command = {
      "/bin/sh", "-c", "[ $RANK = 1 ] || head -c 300000 /dev/zero | tr '\\0' x; sleep 1"};
  job.start(machine(0), command);
  std::ifstream reader(job.output_of(0)); // opens when the agent does
  job.start(machine(1), command);
  std::this_thread::sleep_for(5s); // more than twice as long as an agent may be silent
  CHECK(job.await_agent(1, 0ms) == -1);
  std::string text((std::istreambuf_iterator<char>(reader)), {});
  CHECK(text.size() > 300'000);
  CHECK(job.await_agent(0, 10s) == 0);
  CHECK(job.await_agent(1, 10s) == 0);
}

TEST_CASE("An agent that waits for other machines ends when it is asked", "[distributed][launch][faults]") {
  const bool serves = GENERATE(false, true);
  const int signal = GENERATE(SIGTERM, SIGINT);
  CAPTURE(serves, signal);
  Job job;
  const pid_t agent = job.start(serves ? machine(0, "2:3") : machine(1), kSleep);
  for (int i = 0; i < 500 && !awaits(agent, signal); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  CHECK(job.await_agent(0, 200ms) == -1); // it waits
  ::kill(agent, signal);
  CHECK(job.await_agent(0, 3s) == 128 + signal);
  CHECK_THAT(job.output(0), Catch::Contains("ended by signal " + std::to_string(signal)));
  CHECK(job.left() == "");
}
