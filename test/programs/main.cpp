// programs FOLDER [CATEGORY...]: replays recorded TorchScript programs. See kUsage below.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "program.h"
#include "replay.h"
#include "test/conformance/workers.h"

namespace {

using namespace programs;
using conformance::Message;

constexpr const char* kUsage =
    R"(usage: programs FOLDER [script source traced export] [options]
Replays the recorded programs in FOLDER/CATEGORY (default: all categories that are there), each in a process of its own.
  --only ID             only this program; may be repeated
  --list-failures FILE  writes one line for each failure: category/id, number of the call, what differs
  --jobs N              processes at once (default: one per core)
  --timeout S           seconds a program may take (default 60)
  --texts               of programs that must be refused, also what the error says
  --no-fork             in this process, for debuggers and sanitizers
  --verbose             calls that are skipped, too, and what the library writes to stderr
The last line is "N passed, M failed" (calls; a program that must be refused counts as one). Exit code 0 if nothing
failed, 1 if something did, 2 for wrong usage or an unreadable folder.
)";

constexpr const char* kCategories[] = {"script", "source", "traced", "export"};

struct Options {
  std::string folder;
  std::vector<std::string> categories;
  std::set<std::string> only;
  std::string failures_file;
  conformance::WorkerOptions workers;
  bool fork = true;
  bool texts = false;
  bool verbose = false;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Options parse(int argc, char** argv) {
  Options options;
  options.workers.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.workers.task_seconds = 60;
  options.workers.one_task_each = true;
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
    } else if (arg == "--list-failures") {
      options.failures_file = value();
    } else if (arg == "--jobs") {
      options.workers.jobs = std::atoi(value().c_str());
    } else if (arg == "--timeout") {
      options.workers.task_seconds = std::atof(value().c_str());
    } else if (arg == "--no-fork") {
      options.fork = false;
    } else if (arg == "--texts") {
      options.texts = true;
    } else if (arg == "--verbose") {
      options.verbose = true;
    } else if (arg.rfind("--", 0) == 0) {
      throw UsageError("unknown option " + arg);
    } else if (options.folder.empty()) {
      options.folder = arg;
    } else {
      options.categories.push_back(arg);
    }
  }
  if (options.folder.empty()) {
    throw UsageError("which folder?");
  }
  if (options.workers.jobs < 1 || options.workers.task_seconds <= 0) {
    throw UsageError("--jobs and --timeout need positive numbers");
  }
  if (options.categories.empty()) {
    for (const std::string category : kCategories) {
      if (std::ifstream(options.folder + "/" + category + "/" + category + ".jsonl")) {
        options.categories.push_back(category);
      }
    }
  }
  if (options.categories.empty()) {
    throw UsageError(options.folder + " has none of the categories");
  }
  options.workers.quiet = !options.verbose;
  return options;
}

std::string one_line(std::string text, size_t limit) {
  std::replace(text.begin(), text.end(), '\n', '|');
  return text.size() > limit ? text.substr(0, limit) + "..." : text;
}

class Report {
 public:
  explicit Report(const Options& options) : options_(options) {}

  void add(const Program& program, const Verdict& verdict) {
    Count& count = counts_[program.category->name];
    if (verdict.status == Status::Passed) {
      ++count.passed;
      return;
    }
    const std::string line = program.name() + " call " + std::to_string(verdict.call) + ": ";
    if (verdict.status == Status::Skipped) {
      ++count.skipped;
      skipped_.push_back(line + verdict.why);
      return;
    }
    ++count.failed;
    failures_.push_back(line + verdict.why);
  }

  /// The last line is "N passed, M failed".
  void print() {
    std::sort(failures_.begin(), failures_.end());
    std::sort(skipped_.begin(), skipped_.end());
    for (size_t i = 0; options_.verbose && i < skipped_.size(); ++i) {
      std::printf("SKIP %s\n", one_line(skipped_[i], 400).c_str());
    }
    for (const std::string& line : failures_) {
      std::printf("FAIL %s\n", one_line(line, options_.verbose ? 4000 : 400).c_str());
    }
    write_failures();
    Count all;
    for (const auto& [name, count] : counts_) {
      std::printf(
          "%s: %" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", name.c_str(), count.passed, count.failed,
          count.skipped);
      all.passed += count.passed;
      all.failed += count.failed;
    }
    std::printf("%" PRId64 " passed, %" PRId64 " failed\n", all.passed, all.failed);
  }

  bool all_passed() const {
    return failures_.empty();
  }

 private:
  struct Count {
    int64_t passed = 0;
    int64_t failed = 0;
    int64_t skipped = 0;
  };

  void write_failures() const {
    if (options_.failures_file.empty()) {
      return;
    }
    std::ofstream file(options_.failures_file);
    for (const std::string& line : failures_) {
      file << one_line(line, 4000) << "\n";
    }
    if (!file.flush()) {
      throw std::runtime_error("cannot write " + options_.failures_file);
    }
  }

  const Options& options_;
  std::map<std::string, Count> counts_;
  std::vector<std::string> failures_;
  std::vector<std::string> skipped_;
};

/// Whether all programs were replayed.
bool replay_in_workers(const std::vector<const Program*>& chosen, const Options& options, Report& report) {
  conformance::Work work;
  work.tasks = chosen.size();
  work.run = [&](size_t index, const std::function<void(const Message&)>& send) {
    replay(*chosen[index], options.texts, [&](const Verdict& verdict) {
      send({static_cast<uint32_t>(verdict.call), static_cast<uint32_t>(verdict.status), verdict.why});
    });
    return true;
  };
  work.report = [&](size_t index, const Message& message) {
    report.add(*chosen[index], {message.part, static_cast<Status>(message.status), message.text});
  };
  work.died = [&](size_t index, const std::vector<uint32_t>& reported, const std::string& why) {
    for (size_t call = reported.size(); call < chosen[index]->judged(); ++call) {
      report.add(*chosen[index], {call, Status::Failed, why});
    }
  };
  return conformance::run_in_workers(work, options.workers);
}

int run(const Options& options) {
  const Programs programs(options.folder, options.categories);
  std::vector<const Program*> chosen;
  for (const Program& program : programs.all()) {
    if (options.only.empty() || options.only.count(program.id) != 0) {
      chosen.push_back(&program);
    }
  }
  Report report(options);
  bool all_replayed = true;
  if (options.fork) {
    all_replayed = replay_in_workers(chosen, options, report);
  } else {
    for (const Program* program : chosen) {
      replay(*program, options.texts, [&](const Verdict& verdict) { report.add(*program, verdict); });
    }
  }
  if (!all_replayed) {
    std::printf("stopped before all programs were replayed\n");
  }
  report.print();
  return report.all_passed() && all_replayed ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const UsageError& e) {
    std::fprintf(stderr, "programs: %s\n%s", e.what(), kUsage);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "programs: %s\n", e.what());
  }
  return 2;
}
