// Shows, runs, times and profiles a TorchScript program: see --help. Compiles with libtensor and libtorch.
#include <torch/script.h>
#include <torch/torch.h>

#if __has_include(<torch/profiler.h>)
#include <torch/profiler.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "describe.h"
#include "inputs.h"
#include "options.h"

namespace tensor_run {

namespace {

using torch::IValue;
using torch::jit::Module;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Module load(const Options& options) {
  const auto start = Clock::now();
  Module module = torch::jit::load(options.model, torch::Device(options.device));
  std::printf("loaded %s in %.1f ms\n", options.model.c_str(), milliseconds_since(start));
  if (options.train) {
    module.train();
    return module;
  }
  module.eval();
  if (options.freeze) {
    module = torch::jit::freeze(module);
  }
  if (options.optimize) {
    module = torch::jit::optimize_for_inference(module);
  }
  return module;
}

/// A method and what it is called with.
class Run {
 public:
  Run(const Module& module, const Options& options) : method_(module.get_method(options.method)) {
    for (std::string spec : options.inputs) {
      const std::string name = take_name(spec);
      IValue value = make_input(spec, torch::Device(options.device));
      if (name.empty()) {
        arguments_.push_back(std::move(value));
      } else {
        keywords_.emplace(name, std::move(value));
      }
    }
  }

  /// Whether every argument has a value: given, or by default.
  bool is_complete() const {
    const auto& declared = method_.function().getSchema().arguments();
    for (size_t i = 1; i < declared.size(); ++i) { // the first is self
      const bool given = i - 1 < arguments_.size() || keywords_.count(declared[i].name()) != 0;
      if (!given && !declared[i].default_value()) {
        return false;
      }
    }
    return true;
  }

  IValue operator()() {
    return method_(arguments_, keywords_);
  }

 private:
  torch::jit::Method method_;
  std::vector<IValue> arguments_;
  std::unordered_map<std::string, IValue> keywords_;
};

void time(Run& run, int64_t times) {
  std::vector<double> took;
  for (int64_t i = 0; i < times; ++i) {
    const auto start = Clock::now();
    run();
    took.push_back(milliseconds_since(start));
  }
  std::sort(took.begin(), took.end());
  std::printf(
      "%lld runs: median %.3f ms, fastest %.3f ms, slowest %.3f ms\n", static_cast<long long>(times),
      took[took.size() / 2], took.front(), took.back());
}

void profile(Run& run, const Options& options) {
#if __has_include(<torch/profiler.h>)
  torch::profiler::Profile profile;
  run();
  profile.stop();
  std::printf("%s", profile.table().c_str());
  if (!options.trace.empty()) {
    profile.export_chrome_trace(options.trace);
    std::printf("wrote %s\n", options.trace.c_str());
  }
#else
  torch::autograd::profiler::RecordProfile trace(options.trace.empty() ? "trace.json" : options.trace);
  run();
#endif
}

void save(const IValue& value, const std::string& path) {
  const std::vector<char> bytes = torch::pickle_save(value);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    throw UserError("cannot write " + path);
  }
  std::printf("saved %s\n", path.c_str());
}

int run(const Options& options) {
  if (options.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (options.threads > 0) {
    torch::set_num_threads(static_cast<int>(options.threads));
  }
  torch::manual_seed(static_cast<uint64_t>(options.seed));
  torch::AutoGradMode gradients(options.train);
  const Module module = load(options);
  describe(module);
  if (!module.find_method(options.method)) {
    throw UserError("the module has no method '" + options.method + "'; --method names one");
  }
  if (options.graph) {
    std::cout << module.get_method(options.method).graph()->toString() << std::flush;
  }
  Run call(module, options);
  if (options.code_only || (options.inputs.empty() && !call.is_complete())) {
    return 0;
  }
  const auto start = Clock::now();
  const IValue result = call();
  const double first = milliseconds_since(start);
  std::printf("result: %s\n", describe(result, options.full).c_str());
  std::printf("first run: %.3f ms\n", first);
  if (options.time > 0) {
    time(call, options.time);
  }
  if (options.profile) {
    profile(call, options);
  }
  if (!options.output.empty()) {
    save(result, options.output);
  }
  return 0;
}

} // namespace

} // namespace tensor_run

int main(int argc, char** argv) {
  try {
    return tensor_run::run(tensor_run::parse_options(argc, argv));
  } catch (const tensor_run::UserError& error) {
    std::fprintf(stderr, "tensor-run: %s\n", error.what());
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "tensor-run: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tensor-run: %s\n", error.what());
  }
  return 2;
}
