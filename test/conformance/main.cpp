// conformance FOLDER: replays recorded operator calls through the boxed dispatcher. See usage() below.

#include <ATen/Context.h>
#include <c10/core/Device.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "corpus.h"
#include "report.h"
#include "workers.h"

namespace {

using namespace conformance;

constexpr const char* kUsage =
    R"(usage: conformance [FOLDER] [options]
Replays every recorded call in FOLDER (NAME.jsonl with NAME.safetensors) and compares all that was recorded.
  --only OP         only this operator: aten::add, aten::add.Tensor or add; may be repeated
  --file NAME       only NAME.jsonl
  --kind KIND       only forward, inplace, out, error, grad or gradgrad; may be repeated
  --case ID         only this case; may be repeated
  --device DEVICE   cpu (default) or cuda
  --known LIST      file of case ids that are expected to fail; they are reported apart; may be repeated
                    (default known.txt beside the compact corpus, for cuda also known_cuda.txt; "none" for no such list)
  --jobs N          worker processes (default: one per core)
  --timeout S       seconds a case may take (default 30)
  --no-fork         run in this process, for debuggers and sanitizers
  --verbose         a row for every operator, and the library's warnings
The last line is "N passed, M failed, K missing" (missing: the operator does not exist). Exit code 0 if nothing
failed, 1 if something did, 2 for wrong usage or an unreadable folder.
)";

struct Options {
  std::string folder = CONFORMANCE_DATA;
  std::string file;
  std::set<std::string> only;
  std::set<std::string> kinds;
  std::set<std::string> ids;
  std::vector<std::string> known;
  c10::Device device{c10::DeviceType::CPU};
  WorkerOptions workers;
  bool fork = true;
  bool verbose = false;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Options parse(int argc, char** argv) {
  Options options;
  options.workers.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const std::set<std::string> kinds = {"forward", "inplace", "out", "error", "grad", "gradgrad"};
  bool has_folder = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) {
        throw UsageError(arg + " needs a value");
      }
      return argv[++i];
    };
    if (arg == "--only") {
      options.only.insert(value());
    } else if (arg == "--file") {
      options.file = value();
    } else if (arg == "--kind") {
      options.kinds.insert(value());
    } else if (arg == "--case") {
      options.ids.insert(value());
    } else if (arg == "--device") {
      options.device = c10::Device(value());
    } else if (arg == "--known") {
      options.known.push_back(value());
    } else if (arg == "--jobs") {
      options.workers.jobs = std::atoi(value().c_str());
    } else if (arg == "--timeout") {
      options.workers.task_seconds = std::atof(value().c_str());
    } else if (arg == "--no-fork") {
      options.fork = false;
    } else if (arg == "--verbose") {
      options.verbose = true;
    } else if (arg.rfind("--", 0) == 0) {
      throw UsageError("unknown option " + arg);
    } else if (!std::exchange(has_folder, true)) {
      options.folder = arg;
    } else {
      throw UsageError("more than one folder");
    }
  }
  for (const std::string& kind : options.kinds) {
    if (kinds.count(kind) == 0) {
      throw UsageError("unknown kind " + kind);
    }
  }
  if (options.workers.jobs < 1) {
    throw UsageError("--jobs needs a positive number");
  }
  if (options.workers.task_seconds <= 0) {
    throw UsageError("--timeout needs a positive number");
  }
  options.workers.quiet = !options.verbose;
  if (options.known.empty()) {
    options.known = {CONFORMANCE_DATA "/known.txt"};
    if (options.device.is_cuda()) {
      options.known.push_back(CONFORMANCE_DATA "/known_cuda.txt");
    }
  }
  return options;
}

/// Does --only name this operator, with or without namespace and overload?
bool names(const std::set<std::string>& only, const std::string& op) {
  if (only.empty()) {
    return true;
  }
  const size_t colons = op.find("::");
  const std::string bare = op.substr(colons + 2);
  const std::string base = bare.substr(0, bare.find('.'));
  for (const std::string& name : {op, bare, base, op.substr(0, colons + 2) + base}) {
    if (only.count(name) != 0) {
      return true;
    }
  }
  return false;
}

std::vector<const Case*> choose(const Corpus& corpus, const Options& options) {
  std::vector<const Case*> chosen;
  for (const Case& c : corpus.cases()) {
    if (!names(options.only, c.op) || (!options.ids.empty() && options.ids.count(c.id) == 0)) {
      continue;
    }
    const auto wanted = [&](Part part) {
      return options.kinds.empty() || options.kinds.count(part_name(c, part)) != 0;
    };
    if (std::any_of(c.parts.begin(), c.parts.end(), wanted)) {
      chosen.push_back(&c);
    }
  }
  return chosen;
}

/// After an illegal access on a GPU every further call fails, in this process.
bool is_lost(c10::Device device) {
  if (device.is_cpu()) {
    return false;
  }
  try {
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index() < 0 ? 0 : device.index());
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

/// Whether all cases were replayed.
bool replay_in_workers(
    const std::vector<const Case*>& cases,
    const Options& options,
    const std::function<void(size_t, const Verdict&)>& report) {
  Work work;
  work.tasks = cases.size();
  work.run = [&](size_t index, const std::function<void(const Message&)>& send) {
    bool failed = false;
    for (const Verdict& verdict : replay(*cases[index], options.device)) {
      send({static_cast<uint32_t>(verdict.part), static_cast<uint32_t>(verdict.status), verdict.why});
      failed = failed || verdict.status == Status::Failed;
    }
    return !failed || !is_lost(options.device);
  };
  work.report = [&](size_t index, const Message& message) {
    report(index, {static_cast<Part>(message.part), static_cast<Status>(message.status), message.text});
  };
  work.died = [&](size_t index, const std::vector<uint32_t>& reported, const std::string& why) {
    for (const Part part : cases[index]->parts) {
      if (std::find(reported.begin(), reported.end(), static_cast<uint32_t>(part)) == reported.end()) {
        report(index, {part, Status::Failed, why});
      }
    }
  };
  return run_in_workers(work, options.workers);
}

int run(const Options& options) {
  // The records are of float: of no narrower numbers in convolutions, as GPUs have them.
  at::globalContext().setAllowTF32CuDNN(false);
  const Corpus corpus(options.folder, options.file);
  const std::vector<const Case*> chosen = choose(corpus, options);
  KnownFailures known;
  for (const std::string& list : options.known) {
    if (list != "none") {
      known.read(list);
    }
  }
  Report report(std::move(known), options.verbose);
  const auto add = [&](size_t index, const Verdict& verdict) {
    const Case& c = *chosen[index];
    if (options.kinds.empty() || options.kinds.count(part_name(c, verdict.part)) != 0) {
      report.add(c, verdict);
    }
  };
  bool all_replayed = true;
  if (options.fork) {
    all_replayed = replay_in_workers(chosen, options, add);
  } else {
    for (size_t i = 0; i < chosen.size(); ++i) {
      for (const Verdict& verdict : replay(*chosen[i], options.device)) {
        add(i, verdict);
      }
    }
  }
  report.print();
  if (!all_replayed) {
    std::printf("stopped before all cases were replayed\n");
  }
  return report.all_passed() && all_replayed ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const UsageError& e) {
    std::fprintf(stderr, "conformance: %s\n%s", e.what(), kUsage);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "conformance: %s\n", e.what());
  }
  return 2;
}
