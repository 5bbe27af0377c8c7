// fuzz_modules: the C++ face of the library (modules, functions, optimizers, loaders) with settings nobody would write.
// See kUsage.
#include <c10/util/Exception.h>
#include <sys/resource.h>

#include <cstdio>
#include <stdexcept>

#include "test/support/refusals.h"
#include "test/support/strict_allocator.h"
#include "test/fuzz/forked_cases.h"
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

constexpr double kSecondsForOne = 20;
constexpr rlim_t kMemory = rlim_t{8} << 30;

/// Tensors and everything else are bounded, so that a case that takes memory without end fails instead of the machine.
void bound_memory() {
  test::StrictAllocator::install().set_limits(/*block=*/size_t{64} << 20, /*total=*/size_t{512} << 20);
#ifndef __SANITIZE_ADDRESS__ // which reserves terabytes
  const rlimit limit{kMemory, kMemory};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

struct Options : CaseOptions {
  std::string name;
};

Options parse(int argc, char** argv) {
  Options options;
  CommandLine line(argc, argv);
  while (line.next()) {
    if (options.take(line)) {
      continue;
    }
    if (line.word() != "--only") {
      throw std::invalid_argument("unknown option " + line.word());
    }
    options.name = line.value();
  }
  return options;
}

enum class Outcome { Succeeded, Refused, Foreign, Damage };

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

int run_one(const Case& one, const Options& options) {
  std::printf("case %llu: %s\n", static_cast<unsigned long long>(options.only_case), one.name.c_str());
  bound_memory();
  std::string text;
  const Outcome outcome = run(one, options.seed, options.only_case, text);
  constexpr const char* kOutcomes[] = {"succeeded", "refused", "foreign exception", "damage"};
  std::printf("%s: %s\n", kOutcomes[static_cast<int>(outcome)], text.c_str());
  return outcome == Outcome::Succeeded || outcome == Outcome::Refused ? 0 : 1;
}

int run_many(const std::vector<Case>& cases, const Options& options) {
  ForkedCases forked;
  forked.count = options.cases;
  forked.seconds_for_one = [](int) { return kSecondsForOne; };
  forked.prepare = bound_memory;
  forked.run = [&](uint64_t index, CaseProgress& progress) {
    std::string text;
    const Outcome outcome = run(chosen(cases, options.seed, index), options.seed, index, text);
    ++progress.outcomes[static_cast<int>(outcome)];
    return outcome == Outcome::Foreign || outcome == Outcome::Damage ? text : std::string();
  };
  forked.report = [&](const CaseProgress& progress, const std::string& how, bool) {
    const uint64_t index = progress.next;
    std::printf(
        "%s: %s\n    fuzz_modules --seed %llu --case %llu%s\n", chosen(cases, options.seed, index).name.c_str(),
        how.c_str(), static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(index),
        options.name.empty() ? "" : (" --only '" + options.name + "'").c_str());
    return true;
  };
  const CaseTotals totals = run_forked(forked);
  std::printf(
      "%llu cases succeeded, %llu were refused, %llu findings\n", static_cast<unsigned long long>(totals.outcomes[0]),
      static_cast<unsigned long long>(totals.outcomes[1]), static_cast<unsigned long long>(totals.findings));
  return totals.findings == 0 ? 0 : 1;
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
  SilentWarnings silent;
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
  return options.one ? run_one(chosen(cases, options.seed, options.only_case), options) : run_many(cases, options);
}
