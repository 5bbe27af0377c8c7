// fuzz_ops: calls the operators of the library with arguments nobody would write. See kUsage.

#include <c10/util/Exception.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "test/support/strict_allocator.h"
#include "test/fuzz/arguments.h"
#include "test/fuzz/workers.h"

namespace {

using namespace fuzz;

constexpr const char* kUsage =
    R"(usage: fuzz_ops [options]
Calls operators boxed, with arguments drawn from their schemas and from recorded calls.
Case K of a seed is always the same.
  --seed N          default 1
  --case K          only this case, in this process (for debuggers); prints the call
  --describe K      prints the call of this case without making it
  --only OP         only this operator: aten::add.Tensor, add.Tensor or add; may be repeated
  --not OP          not this operator
  --calls N         how many calls (default 100000)
  --time S          at most so many seconds
  --from K          start with this case
  --jobs N          worker processes (default 1)
  --timeout S       seconds a case may take (default 20)
  --device DEVICE   cuda: compares each call with the CPU's, results and gradients, instead of what it checks otherwise
  --unsupported     with --device, also report what only one of the two has a kernel for
  --corpus FOLDER   recorded calls to start from (default: the compact part of the corpus; "none")
  --no-placing      do not report results that depend on strides
  --strict          also report refused calls that changed an output
  --no-meta         do not report differences to the calls without data
  --examples N      cases shown of each finding (default 2)
  --tally           calls of each operator that succeeded and that were refused
Exit code 0 if nothing was found, 1 if something was, 2 for wrong usage.
)";

struct Options {
  uint64_t seed = 1;
  std::string corpus = CONFORMANCE_DATA;
  std::set<std::string> only;
  std::set<std::string> leave_out;
  std::set<std::string> ignored = {"a refused call", "not supported on"}; // starts of finding kinds
  bool has_case = false;
  bool describe_only = false;
  uint64_t case_index = 0;
  size_t examples = 2;
  bool tally = false;
  Limits limits;
};

Options parse(int argc, char** argv) {
  Options options;
  CommandLine line(argc, argv);
  while (line.next()) {
    const std::string name = line.word();
    if (name == "--seed") {
      options.seed = std::stoull(line.value());
    } else if (name == "--case" || name == "--describe") {
      options.has_case = true;
      options.describe_only = name == "--describe";
      options.case_index = std::stoull(line.value());
    } else if (name == "--only") {
      options.only.insert(line.value());
    } else if (name == "--not") {
      options.leave_out.insert(line.value());
    } else if (name == "--calls") {
      options.limits.calls = std::stoull(line.value());
    } else if (name == "--time") {
      options.limits.seconds = std::stod(line.value());
    } else if (name == "--from") {
      options.limits.first_case = std::stoull(line.value());
    } else if (name == "--jobs") {
      options.limits.jobs = std::stoi(line.value());
    } else if (name == "--timeout") {
      options.limits.case_seconds = std::stod(line.value());
    } else if (name == "--device") {
      options.limits.device = c10::Device(line.value());
      if (!options.limits.device.has_index() && !options.limits.device.is_cpu()) {
        options.limits.device.set_index(0);
      }
    } else if (name == "--unsupported") {
      options.ignored.erase("not supported on");
    } else if (name == "--corpus") {
      options.corpus = line.value();
    } else if (name == "--no-placing") {
      options.ignored.insert({"results depend on strides", "refused by strides"});
    } else if (name == "--strict") {
      options.ignored.erase("a refused call");
    } else if (name == "--no-meta") {
      options.ignored.insert({"other results without data", "refused without data"});
    } else if (name == "--examples") {
      options.examples = std::stoull(line.value());
    } else if (name == "--tally") {
      options.tally = true;
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  if (options.corpus == "none") {
    options.corpus.clear();
  }
  return options;
}

bool is_named(const std::set<std::string>& names, const std::string& full) {
  const std::string name = full.substr(6); // without aten::
  return names.count(full) != 0 || names.count(name) != 0 || names.count(name.substr(0, name.find('.'))) != 0;
}

int run_single(const Cases& cases, const Options& options) {
  std::printf("%s\n", describe(cases.make(options.case_index)).c_str());
  if (options.describe_only) {
    return 0;
  }
  std::fflush(stdout);
  const Verdict verdict = run_case(cases, options.case_index, options.limits.device);
  constexpr const char* kOutcomes[] = {"succeeded", "refused", "failed"};
  std::printf("%s\n", kOutcomes[static_cast<int>(verdict.outcome)]);
  for (const Finding& finding : verdict.findings) {
    std::printf("%s: %s\n", finding.kind.c_str(), finding.what.c_str());
  }
  return verdict.findings.empty() ? 0 : 1;
}

/// Findings of one kind on one operator.
struct Group {
  size_t count = 0;
  std::vector<std::pair<uint64_t, std::string>> examples;
};

/// Numbers differ between cases of one cause.
std::string cause(const std::string& kind) {
  std::string text;
  for (const char c : kind) {
    if (c < '0' || c > '9') {
      text += c;
    }
  }
  return text;
}

class Report {
 public:
  Report(const Cases& cases, const Options& options) : cases_(cases), options_(options) {}

  void add(uint64_t index, const Finding& finding) {
    for (const std::string& start : options_.ignored) {
      if (finding.kind.rfind(start, 0) == 0) {
        return;
      }
    }
    Group& group = groups_[{name_of(index), cause(finding.kind)}];
    if (++group.count <= options_.examples) {
      group.examples.emplace_back(index, finding.kind + ": " + finding.what);
    }
    if (group.count == 1) {
      std::fprintf(
          stderr, "%s, case %llu: %s\n", name_of(index).c_str(), static_cast<unsigned long long>(index),
          finding.kind.substr(0, 150).c_str());
    }
  }

  void print() const {
    for (const auto& [key, group] : groups_) {
      std::printf("\n%s: %s (%zu times)\n", key.first.c_str(), key.second.c_str(), group.count);
      for (const auto& [index, text] : group.examples) {
        std::printf(
            "  --seed %llu --case %llu: %s\n    %s\n", static_cast<unsigned long long>(options_.seed),
            static_cast<unsigned long long>(index), text.c_str(), describe(cases_.make(index)).c_str());
      }
    }
  }
  size_t groups() const {
    return groups_.size();
  }

 private:
  std::string name_of(uint64_t index) const {
    return full_name(cases_.operators()[cases_.operator_of(index)].schema());
  }

  const Cases& cases_;
  const Options& options_;
  std::map<std::pair<std::string, std::string>, Group> groups_;
};

int run_many(const Cases& cases, const Options& options) {
  std::vector<bool> chosen;
  for (const c10::OperatorHandle& op : cases.operators()) {
    const std::string name = full_name(op.schema());
    chosen.push_back((options.only.empty() || is_named(options.only, name)) && !is_named(options.leave_out, name));
  }
  if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) {
    throw std::invalid_argument("no such operator");
  }
  Report report(cases, options);
  const std::vector<Tally> tally = run_in_workers(
      cases, chosen, options.limits, [&](uint64_t index, const Finding& finding) { report.add(index, finding); });
  Tally total;
  size_t reached = 0;
  size_t all = 0;
  for (size_t op = 0; op < tally.size(); ++op) {
    if (!chosen[op]) {
      continue;
    }
    total.succeeded += tally[op].succeeded;
    total.refused += tally[op].refused;
    reached += tally[op].succeeded != 0 ? 1 : 0;
    ++all;
    if (options.tally) {
      std::printf(
          "%8llu succeeded %8llu refused  %s\n", static_cast<unsigned long long>(tally[op].succeeded),
          static_cast<unsigned long long>(tally[op].refused), full_name(cases.operators()[op].schema()).c_str());
    }
  }
  report.print();
  std::printf(
      "\nseed %llu: %llu calls succeeded, %llu were refused; %zu of %zu operators succeeded at least once; %zu "
      "findings\n",
      static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(total.succeeded),
      static_cast<unsigned long long>(total.refused), reached, all, report.groups());
  return report.groups() == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    test::StrictAllocator::install().set_limits(/*block=*/size_t{64} << 20, /*total=*/size_t{512} << 20);
    const Cases cases(options.seed, options.corpus);
    return options.has_case ? run_single(cases, options) : run_many(cases, options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fuzz_ops: %s\n%s", e.what(), kUsage);
    return 2;
  }
}
