// fuzz_sources: changed sources of TorchScript are compiled, printed, saved, loaded and run. See kUsage.
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/script.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>

#include "test/conformance/json.h"
#include "test/fuzz/arguments.h"
#include "test/fuzz/attempt.h"
#include "test/fuzz/memory_limit.h"
#include "test/fuzz/sources/changes.h"
#include "test/fuzz/sources/programs.h"
#include "test/support/refusals.h"

namespace {

using namespace fuzz;
using namespace fuzz::sources;

constexpr const char* kUsage = R"(usage: fuzz_sources [options] [FILE.jsonl ...]
Changes sources of TorchScript, compiles them, prints and parses their graphs, saves and loads them, and runs them.
The sources are those of the lines of FILEs, which test/programs/README.md tells; without one those of the sample.
Case K of a seed is always the same. A signal, an exception that is no c10::Error, or a case that takes more than 10 s
before it runs is a finding. A program that runs without end is stopped.
  --seed N          default 1
  --case K          only this case, in this process (for debuggers); prints its source
  --cases N         how many cases (default 20000)
  --time S          at most so many seconds
Exit code 0 if nothing was found, 1 if something was, 2 for wrong usage.
)";

constexpr double kSecondsToCompile = 10, kSecondsToRun = 0.5;
constexpr size_t kMemory = size_t{1} << 30;

struct Options {
  uint64_t seed = 1, cases = 20000, only_case = 0;
  double seconds = 1e9;
  bool one = false;
  std::vector<std::string> files;
};

Options parse(int argc, char** argv) {
  Options options;
  CommandLine line(argc, argv);
  while (line.next()) {
    const std::string name = line.word();
    if (name == "--seed") {
      options.seed = std::stoull(line.value());
    } else if (name == "--case") {
      options.one = true;
      options.only_case = std::stoull(line.value());
    } else if (name == "--cases") {
      options.cases = std::stoull(line.value());
    } else if (name == "--time") {
      options.seconds = std::stod(line.value());
    } else if (name.rfind("--", 0) == 0) {
      throw std::invalid_argument("unknown option " + name);
    } else {
      options.files.push_back(name);
    }
  }
  if (options.files.empty()) {
    options.files.push_back(FUZZ_SOURCES);
  }
  return options;
}

std::vector<std::string> seeds(const std::vector<std::string>& files) {
  std::vector<std::string> out;
  for (const std::string& name : files) {
    std::ifstream file(name);
    for (std::string line; std::getline(file, line);) {
      const conformance::Json program = conformance::Json::parse(line);
      if (program.at("kind").as_string() != "refused") {
        out.push_back(program.at("source").as_string());
      }
    }
  }
  if (out.empty()) {
    throw std::invalid_argument("no sources in " + files.front());
  }
  return out;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What the worker tells of its cases, in memory that it shares with the process that watches it.
struct Progress {
  std::atomic<uint64_t> next{0};
  std::atomic<Phase> phase{Phase::Compile};
  std::atomic<double> begin{0};
  uint64_t fine = 0, refused = 0, endless = 0;
  char text[400] = "";
};

/// Empty, or the exception that nobody should see.
std::string run(const Changer& changer, uint64_t seed, uint64_t index, Progress& progress) {
  Random random(seed, index);
  torch::manual_seed(index);
  const std::string source = changer.next(random);
  try {
    use_source(source, random, progress.phase);
    ++progress.fine;
  } catch (const torch::jit::JITException&) { // raised by a __setstate__
    ++progress.refused;
  } catch (const std::exception& error) {
    if (!test::is_refusal(error)) {
      return demangled(typeid(error)) + ": " + error.what();
    }
    ++progress.refused;
  }
  return {};
}

void print_nothing(const std::string&) {}

struct Silent final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

/// Runs cases up to the end or to the first finding.
[[noreturn]] void work(const Changer& changer, const Options& options, Progress& progress) {
  const MemoryLimit limit(kMemory);
  while (progress.next < options.cases) {
    progress.phase = Phase::Compile;
    progress.begin = now();
    const std::string text = run(changer, options.seed, progress.next, progress);
    if (!text.empty()) {
      std::strncpy(progress.text, text.c_str(), sizeof progress.text - 1);
      ::_exit(1);
    }
    ++progress.next;
  }
  ::_exit(0);
}

enum class End { Done, Finding, Endless };

/// Waits for the worker, and ends it where it takes too long.
End watch(pid_t worker, Progress& progress, double until, int& status) {
  for (;;) {
    for (int i = 0; i < 100; ++i) {
      if (::waitpid(worker, &status, WNOHANG) == worker) {
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? End::Done : End::Finding;
      }
      ::usleep(2000);
    }
    const bool runs = progress.phase == Phase::Run;
    const bool late = now() - progress.begin > (runs ? kSecondsToRun : kSecondsToCompile);
    if (late || now() > until) {
      ::kill(worker, SIGKILL);
      ::waitpid(worker, &status, 0);
      if (!late) {
        return End::Done;
      }
      std::strncpy(progress.text, "did not end", sizeof progress.text - 1);
      return runs ? End::Endless : End::Finding;
    }
  }
}

int run_one(const Changer& changer, const Options& options) {
  Random random(options.seed, options.only_case);
  std::printf("%s\n----\n", changer.next(random).c_str());
  std::fflush(stdout);
  Progress progress;
  const std::string text = run(changer, options.seed, options.only_case, progress);
  std::printf("%s\n", text.empty() ? "nothing found" : text.c_str());
  return text.empty() ? 0 : 1;
}

void tell(const Options& options, const Progress& progress, const std::string& how) {
  constexpr const char* kPhases[] = {"compiling", "printing", "running", "saving"};
  std::printf(
      "while %s: %s\n    fuzz_sources --seed %llu --case %llu\n", kPhases[static_cast<size_t>(progress.phase.load())],
      how.c_str(), static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(progress.next));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> sources;
  try {
    options = parse(argc, argv);
    sources = seeds(options.files);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), kUsage);
    return 2;
  }
  at::set_num_threads(1);
  torch::jit::setPrintHandler(print_nothing);
  Silent silent;
  c10::WarningUtils::set_warning_handler(&silent);
  const Changer changer(std::move(sources));
  if (options.one) {
    return run_one(changer, options);
  }
  void* const shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    std::perror("fuzz_sources: mmap");
    return 2;
  }
  Progress& progress = *new (shared) Progress;
  const double until = now() + options.seconds;
  uint64_t findings = 0;
  while (progress.next < options.cases && now() < until) {
    progress.begin = now();
    const pid_t worker = ::fork();
    if (worker == 0) {
      work(changer, options, progress);
    }
    int status = 0;
    const End end = watch(worker, progress, until, status);
    if (end == End::Done) {
      break;
    }
    if (end == End::Endless) {
      ++progress.endless;
    } else {
      ++findings;
      const bool signalled = WIFSIGNALED(status) && progress.text[0] == 0;
      tell(options, progress, signalled ? std::string("signal ") + ::strsignal(WTERMSIG(status)) : progress.text);
    }
    progress.text[0] = 0;
    ++progress.next;
  }
  std::printf(
      "%llu sources ran, %llu were refused, %llu ran without end, %llu findings\n",
      static_cast<unsigned long long>(progress.fine), static_cast<unsigned long long>(progress.refused),
      static_cast<unsigned long long>(progress.endless), static_cast<unsigned long long>(findings));
  return findings == 0 ? 0 : 1;
}
