// tensor-launch: variables, output, failures, restarts, and nothing left behind.
#include <catch2/catch.hpp>

#include <c10/util/Exception.h>
#include <csrc/distributed/launch/agent.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace launch = torch::distributed::launch;
using namespace std::chrono_literals;

namespace {

// Whether the process runs no more; who has died may wait for its parent.
bool gone(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  return !std::getline(file, line) || line.find(") Z ") != std::string::npos;
}

// Where the ranks of a job tell each other how far they are.
struct Folder {
  Folder() {
    REQUIRE(::mkdtemp(path.data()) != nullptr);
  }
  ~Folder() {
    std::filesystem::remove_all(path);
  }
  std::string path = (std::filesystem::temp_directory_path() / "launched_XXXXXX").string();
};

// Within two seconds.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 200 && !condition(); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  return condition();
}

struct Job {
  int code = 0;
  std::string output;
  double seconds = 0;
};

Job run_script(const std::string& script, std::vector<std::string> options = {}) {
  options.insert(options.end(), {"/bin/sh", "-c", script});
  Job job;
  const auto begin = std::chrono::steady_clock::now();
  job.code = launch::run(launch::parse_arguments(options), [&](const std::string& text) { job.output += text; });
  job.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return job;
}

} // namespace

TEST_CASE("tensor-launch tells each process its place", "[distributed][launch]") {
  const Job job = run_script(
      "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $MASTER_ADDR ${MASTER_PORT:+port} $OMP_NUM_THREADS",
      {"--nproc-per-node", "2"});
  CHECK(job.code == 0);
  CHECK_THAT(job.output, Catch::Contains("[rank0] 0/2 0/2 127.0.0.1 port"));
  CHECK_THAT(job.output, Catch::Contains("[rank1] 1/2 1/2 127.0.0.1 port"));
}

TEST_CASE("tensor-launch prints whole lines after their rank", "[distributed][launch]") {
  const Job job = run_script("printf a; sleep 0.05; printf 'b\\nc\\rd'; echo e >&2", {"--nproc-per-node=1"});
  CHECK(job.output == "[rank0] ab\n[rank0] c\n[rank0] de\n");
}

TEST_CASE("tensor-launch reports the first failure and ends the others", "[distributed][launch]") {
  // Rank 1 fails when the others are ready to be asked.
  const Folder folder;
  const Job job = run_script(
      "cd " + folder.path +
          "; if [ $RANK = 1 ]; then until [ -e 0 ] && [ -e 2 ]; do sleep 0.01; done; echo the reason; exit 7; fi; "
          "trap 'echo asked; exit 1' TERM; sleep 60 & echo > $RANK; wait",
      {"--nproc-per-node", "3"});
  CHECK(job.code == 7);
  CHECK(job.seconds < 5);
  CHECK_THAT(job.output, Catch::Contains("first failure: rank 1 (process ") && Catch::Contains("exited with code 7"));
  CHECK_THAT(job.output, Catch::Contains("    the reason\n"));
  CHECK_THAT(job.output, Catch::Contains("[rank0] asked") && Catch::Contains("[rank2] asked"));
  const Job killed = run_script("kill -9 $$");
  CHECK(killed.code == 137);
  CHECK_THAT(killed.output, Catch::Contains("was ended by signal 9"));
}

TEST_CASE("tensor-launch kills what does not end, with all that it has started", "[distributed][launch]") {
  const Folder folder;
  launch::LaunchOptions options = launch::parse_arguments(
      {"--nproc-per-node", "2", "/bin/sh", "-c",
       "cd " + folder.path +
           "; if [ $RANK = 1 ]; then until [ -e 0 ]; do sleep 0.01; done; exit 1; fi; trap '' TERM; sleep 71.5 & "
           "echo started $!; echo > 0; wait; sleep 71.5"});
  options.grace = 500ms;
  std::string output;
  CHECK(launch::run(options, [&](const std::string& text) { output += text; }) == 1);
  const size_t at = output.find("started ");
  REQUIRE(at != std::string::npos);
  const pid_t grandchild = std::stoi(output.substr(at + 8));
  CHECK(comes_true([&] { return gone(grandchild); }));
}

TEST_CASE("tensor-launch starts a job again as often as it may", "[distributed][launch]") {
  const std::string script = "echo round $TORCHELASTIC_RESTART_COUNT; [ $TORCHELASTIC_RESTART_COUNT = 2 ]";
  const Job works = run_script(script, {"--max-restarts", "2"});
  CHECK(works.code == 0);
  CHECK_THAT(
      works.output, Catch::Contains("round 0") && Catch::Contains("restart 2 of 2") && Catch::Contains("round 2"));
  const Job fails = run_script(script, {"--max-restarts", "1"});
  CHECK(fails.code == 1);
  CHECK_THAT(fails.output, Catch::Contains("round 1)") && !Catch::Contains("round 2"));
}

TEST_CASE("Processes do not outlive tensor-launch", "[distributed][launch]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t agent = ::fork();
  if (agent == 0) {
    launch::run(launch::parse_arguments({"/bin/sh", "-c", "echo $$; exec sleep 72.5"}), [&](const std::string& text) {
      [[maybe_unused]] const auto written = ::write(ends[1], text.data(), text.size());
    });
    ::_exit(0);
  }
  char text[64] = {};
  REQUIRE(::read(ends[0], text, sizeof text - 1) > 8);
  const pid_t rank = std::stoi(std::string(text).substr(8)); // behind "[rank0] "
  const int signal = GENERATE(SIGKILL, SIGTERM);
  ::kill(agent, signal);
  int status = 0;
  ::waitpid(agent, &status, 0);
  CHECK(WIFSIGNALED(status) == (signal == SIGKILL));
  CHECK(comes_true([&] { return gone(rank); }));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("tensor-launch says what is wrong with its arguments", "[distributed][launch]") {
  const auto parse = [](const std::vector<std::string>& arguments) { return launch::parse_arguments(arguments); };
  CHECK_THROWS_WITH(parse({}), Catch::Contains("needs a program"));
  CHECK_THROWS_WITH(parse({"--nproc-per-node", "x", "a"}), Catch::Contains("must be a number"));
  CHECK_THROWS_WITH(parse({"--what", "1", "a"}), Catch::Contains("unknown option --what"));
  CHECK_THROWS_WITH(parse({"--nnodes", "2", "a"}), Catch::Contains("--master-addr"));
  CHECK_THROWS_WITH(parse({"--nproc-per-node"}), Catch::Contains("needs a value"));
  CHECK(parse({"--nproc_per_node=3", "--standalone", "--", "--a"}).command == std::vector<std::string>{"--a"});
  CHECK_THROWS_WITH(run_script("", {"--nproc-per-node", "1", "/no/such/program"}), Catch::Contains("cannot start"));
}

TEST_CASE("tensor-launch takes a range of machines", "[distributed][launch]") {
  const auto range =
      launch::parse_arguments({"--nnodes", "1:3", "--master-addr=h", "--master-port=1", "--node-rank=7", "x"});
  CHECK((range.min_nodes == 1 && range.nnodes == 3 && range.node_rank == 7));
  CHECK_THROWS_WITH(
      launch::parse_arguments({"--nnodes", "3:1", "x"}),
      Catch::Contains("--nnodes must be N or MIN:MAX with MIN <= MAX"));
}

TEST_CASE("A machine that comes late is taken in, without one the job begins again", "[distributed][launch]") {
  // Each agent is a process; they meet at a port of this host.
  const int port = 20000 + ::getpid() % 20000;
  const std::string count = "/tmp/launch_" + std::to_string(::getpid());
  // With two machines the job ends once the second has been there; alone it waits.
  const std::string script =
      "echo world $WORLD_SIZE round $TORCHELASTIC_RESTART_COUNT; [ $WORLD_SIZE = 2 ] && exit 0; sleep 60";
  const auto agent = [&](int node, int delay_ms) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::usleep(static_cast<useconds_t>(delay_ms) * 1000);
      auto options = launch::parse_arguments(
          {"--nnodes=1:2", "--node-rank=" + std::to_string(node), "--master-addr=127.0.0.1",
           "--master-port=" + std::to_string(port), "--last-call=0", "/bin/sh", "-c", script});
      options.grace = 400ms;
      std::ofstream file(count + std::to_string(node));
      int code = 99;
      try {
        code = launch::run(options, [&](const std::string& text) { file << text << std::flush; });
      } catch (const std::exception& error) {
        file << error.what();
      }
      file.close();
      ::_exit(code);
    }
    return child;
  };
  const pid_t children[] = {agent(0, 0), agent(1, 1500)};
  for (int node = 0; node < 2; ++node) {
    int status = -1;
    ::waitpid(children[node], &status, 0);
    std::ifstream file(count + std::to_string(node));
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    INFO(text);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK_THAT(text, Catch::Contains("world 2 round 1"));
    if (node == 0) {
      CHECK_THAT(text, Catch::Contains("world 1 round 0") && Catch::Contains("another one has come"));
    }
    ::unlink((count + std::to_string(node)).c_str());
  }
}
