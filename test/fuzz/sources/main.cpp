// fuzz_sources: changed sources of TorchScript are compiled, printed, saved, loaded and run. See kUsage.
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/script.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "test/conformance/json.h"
#include "test/fuzz/attempt.h"
#include "test/fuzz/forked_cases.h"
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

struct Options : CaseOptions {
  double seconds = 1e9;
  std::vector<std::string> files;
};

Options parse(int argc, char** argv) {
  Options options;
  CommandLine line(argc, argv);
  while (line.next()) {
    const std::string name = line.word();
    if (options.take(line)) {
      continue;
    }
    if (name == "--time") {
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

/// Whether a case ran, was refused, or ran without end.
enum Outcome { Fine, Refused, Endless };

/// Empty, or the exception that nobody should see.
std::string run(const Changer& changer, uint64_t seed, uint64_t index, CaseProgress& progress) {
  Random random(seed, index);
  torch::manual_seed(index);
  const std::string source = changer.next(random);
  try {
    use_source(source, random, progress.phase);
    ++progress.outcomes[Fine];
  } catch (const torch::jit::JITException&) { // raised by a __setstate__
    ++progress.outcomes[Refused];
  } catch (const std::exception& error) {
    if (!test::is_refusal(error)) {
      return demangled(typeid(error)) + ": " + error.what();
    }
    ++progress.outcomes[Refused];
  }
  return {};
}

void print_nothing(const std::string&) {}

int run_one(const Changer& changer, const Options& options) {
  Random random(options.seed, options.only_case);
  std::printf("%s\n----\n", changer.next(random).c_str());
  std::fflush(stdout);
  CaseProgress progress;
  const std::string text = run(changer, options.seed, options.only_case, progress);
  std::printf("%s\n", text.empty() ? "nothing found" : text.c_str());
  return text.empty() ? 0 : 1;
}

bool report(const Options& options, CaseProgress& progress, const std::string& how, bool late) {
  const int phase = progress.phase;
  if (late && phase == Phase::Run) {
    ++progress.outcomes[Endless];
    return false;
  }
  constexpr const char* kPhases[] = {"compiling", "printing", "running", "saving"};
  std::printf(
      "while %s: %s\n    fuzz_sources --seed %llu --case %llu\n", kPhases[static_cast<size_t>(phase)], how.c_str(),
      static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(progress.next));
  std::fflush(stdout);
  return true;
}

int run_many(const Changer& changer, const Options& options) {
  ForkedCases forked;
  forked.count = options.cases;
  forked.seconds = options.seconds;
  forked.seconds_for_one = [](int phase) { return phase == Phase::Run ? kSecondsToRun : kSecondsToCompile; };
  forked.prepare = [] { static const MemoryLimit limit(kMemory); };
  forked.run = [&](uint64_t index, CaseProgress& progress) { return run(changer, options.seed, index, progress); };
  forked.report = [&](CaseProgress& progress, const std::string& how, bool late) {
    return report(options, progress, how, late);
  };
  const CaseTotals totals = run_forked(forked);
  std::printf(
      "%llu sources ran, %llu were refused, %llu ran without end, %llu findings\n",
      static_cast<unsigned long long>(totals.outcomes[Fine]), static_cast<unsigned long long>(totals.outcomes[Refused]),
      static_cast<unsigned long long>(totals.outcomes[Endless]), static_cast<unsigned long long>(totals.findings));
  return totals.findings == 0 ? 0 : 1;
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
  SilentWarnings silent;
  c10::WarningUtils::set_warning_handler(&silent);
  const Changer changer(std::move(sources));
  return options.one ? run_one(changer, options) : run_many(changer, options);
}
