// fuzz_modules: the C++ face of the library (modules, functions, optimizers, loaders) with settings nobody would write.
// See kUsage.
#include <c10/util/Exception.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "test/support/refusals.h"
#include "test/support/strict_allocator.h"
#include "test/fuzz/arguments.h"
#include "test/fuzz/modules/draw.h"

namespace {

using namespace fuzz;
using namespace fuzz::modules;

constexpr const char* kUsage =
    R"(usage: fuzz_modules [options]
Makes modules, optimizers and loaders with drawn settings and uses them on drawn tensors.
Case K of a seed is always the same.
A signal, an exception that is no c10::Error, a write outside a tensor, or a case that takes more than 20 s
is a finding.
  --seed N          default 1
  --case K          only this case, in this process (for debuggers)
  --only NAME       only cases of this name
  --cases N         how many cases (default 20000)
Exit code 0 if nothing was found, 1 if something was, 2 for wrong usage.
)";

constexpr unsigned kSecondsForOne = 20;
constexpr rlim_t kMemory = rlim_t{8} << 30;

/// Tensors and everything else are bounded, so that a case that takes memory without end fails instead of the machine.
void bound_memory() {
  test::StrictAllocator::install().set_limits(/*block=*/size_t{64} << 20, /*total=*/size_t{512} << 20);
#ifndef __SANITIZE_ADDRESS__ // which reserves terabytes
  const rlimit limit{kMemory, kMemory};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

struct Options {
  uint64_t seed = 1, cases = 20000, only_case = 0;
  bool one = false;
  std::string name;
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
    } else if (name == "--only") {
      options.name = line.value();
    } else if (name == "--cases") {
      options.cases = std::stoull(line.value());
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  return options;
}

enum class Outcome { Succeeded, Refused, Foreign, Damage };

/// Drawn settings are full of what the library warns of.
struct Silent final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

/// What a worker tells of its cases, in memory that it shares with the process that watches it.
struct Progress {
  uint64_t next = 0;
  uint64_t outcomes[4] = {};
  char text[400] = "";
};

Outcome run(const Case& chosen, uint64_t seed, uint64_t index, std::string& text) {
  Random random(seed, index);
  torch::manual_seed(index);
  Outcome outcome = Outcome::Succeeded;
  try {
    chosen.run(random);
  } catch (const std::exception& error) {
    const bool refused = test::is_refusal(error);
    text = refused ? test::refusal_text(error) : std::string("an exception that is no c10::Error: ") + error.what();
    outcome = refused ? Outcome::Refused : Outcome::Foreign;
  }
  if (const std::string damage = test::StrictAllocator::install().find_damage(); !damage.empty()) {
    text = damage;
    return Outcome::Damage;
  }
  return outcome;
}

const Case& chosen(const std::vector<Case>& cases, uint64_t seed, uint64_t index) {
  return cases[Random(seed ^ 0x5bd1e995, index).below(cases.size())];
}

/// Runs cases up to the end or to the first finding, and leaves in `progress` where it stands.
[[noreturn]] void work(const std::vector<Case>& cases, const Options& options, Progress& progress) {
  bound_memory();
  while (progress.next < options.cases) {
    ::alarm(kSecondsForOne);
    std::string text;
    const Outcome outcome = run(chosen(cases, options.seed, progress.next), options.seed, progress.next, text);
    ++progress.outcomes[static_cast<int>(outcome)];
    if (outcome == Outcome::Foreign || outcome == Outcome::Damage) {
      std::strncpy(progress.text, text.c_str(), sizeof progress.text - 1);
      ::_exit(1);
    }
    ++progress.next;
  }
  ::_exit(0);
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  try {
    options = parse(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), kUsage);
    return 2;
  }
  at::set_num_threads(1);
  Silent silent;
  c10::WarningUtils::set_warning_handler(&silent);
  std::vector<Case> cases;
  add_layers(cases);
  add_functions(cases);
  add_training(cases);
  add_values(cases);
  if (!options.name.empty()) {
    std::erase_if(cases, [&](const Case& c) { return c.name != options.name; });
    if (cases.empty()) {
      std::fprintf(stderr, "no case is named %s\n%s", options.name.c_str(), kUsage);
      return 2;
    }
  }
  if (options.one) {
    const Case& one = chosen(cases, options.seed, options.only_case);
    std::printf("case %llu: %s\n", static_cast<unsigned long long>(options.only_case), one.name.c_str());
    bound_memory();
    std::string text;
    const Outcome outcome = run(one, options.seed, options.only_case, text);
    constexpr const char* kOutcomes[] = {"succeeded", "refused", "foreign exception", "damage"};
    std::printf("%s: %s\n", kOutcomes[static_cast<int>(outcome)], text.c_str());
    return outcome == Outcome::Succeeded || outcome == Outcome::Refused ? 0 : 1;
  }

  void* const shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    std::perror("fuzz_modules: mmap");
    return 2;
  }
  Progress& progress = *new (shared) Progress;
  uint64_t findings = 0;
  while (progress.next < options.cases) {
    std::fflush(stdout);
    const pid_t worker = ::fork();
    if (worker == 0) {
      work(cases, options, progress);
    }
    int status = 0;
    ::waitpid(worker, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      break;
    }
    ++findings;
    const std::string how =
        WIFSIGNALED(status) ? std::string("signal ") + ::strsignal(WTERMSIG(status)) : progress.text;
    const auto index = static_cast<unsigned long long>(progress.next);
    std::printf(
        "%s: %s\n    fuzz_modules --seed %llu --case %llu%s\n", chosen(cases, options.seed, index).name.c_str(),
        how.c_str(), static_cast<unsigned long long>(options.seed), index,
        options.name.empty() ? "" : (" --only '" + options.name + "'").c_str());
    progress.text[0] = 0;
    ++progress.next;
  }
  std::printf(
      "%llu cases succeeded, %llu were refused, %llu findings\n", static_cast<unsigned long long>(progress.outcomes[0]),
      static_cast<unsigned long long>(progress.outcomes[1]), static_cast<unsigned long long>(findings));
  return findings == 0 ? 0 : 1;
}
