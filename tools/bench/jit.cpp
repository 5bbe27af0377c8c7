// What TorchScript costs: nanoseconds of processor time, one line each, with bytes for memory. Compiles against
// libtensor and against libtorch:
//   g++ -std=c++20 -O2 jit.cpp -I$INCLUDE -L$LIB -ltensor          (or -ltorch -ltorch_cpu -lc10)
// JIT_MODELS names the folder that tools/bench/jit_models has filled. tools/bench/compare runs two such programs in
// turns and prints the ratios.
#include <torch/script.h>
#include <torch/torch.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "measure.h"

namespace {

using torch::jit::IValue;
using torch::jit::Module;

constexpr const char* kSource = R"(
def fib(n: int) -> int:
    a = 0
    b = 1
    for i in range(n):
        t = a + b
        a = b
        b = t % 1000003
    return a

def fib_calls(n: int) -> int:
    total = 0
    stack = [n]
    while len(stack) > 0:
        k = stack.pop()
        if k < 2:
            total += k
        else:
            stack.append(k - 1)
            stack.append(k - 2)
    return total

def sieve(n: int) -> int:
    flags = [True] * (n + 1)
    count = 0
    for i in range(2, n + 1):
        if flags[i]:
            count += 1
            j = i * i
            while j <= n:
                flags[j] = False
                j += i
    return count

def floats(n: int) -> float:
    x = 0.5
    s = 0.0
    for i in range(n):
        x = 3.7 * x * (1.0 - x)
        if x > 0.5:
            s += x
        else:
            s -= x
    return s

def text(n: int) -> int:
    parts: List[str] = []
    for i in range(n):
        parts.append('item ' + str(i))
    joined = ','.join(parts)
    words: Dict[str, int] = {}
    for part in joined.split(','):
        key = part[0:6]
        if key in words:
            words[key] += 1
        else:
            words[key] = 1
    return len(words)
)";

std::string model_path(const std::string& name) {
  const char* folder = std::getenv("JIT_MODELS");
  return std::string(folder != nullptr ? folder : "jit_models") + "/" + name + ".pt";
}

/// The source of a function of `steps` additions.
std::string chain_source(int steps) {
  std::string source = "def chain(x: Tensor, y: Tensor) -> Tensor:\n";
  for (int i = 0; i < steps; ++i) {
    source += "    x = x + y\n";
  }
  return source + "    return x\n";
}

at::Tensor chain(at::Tensor x, const at::Tensor& y, int steps) {
  for (int i = 0; i < steps; ++i) {
    x = x + y;
  }
  return x;
}

/// Median of the time that `call` takes after `prepare`, which does not count.
double measure_once(const std::function<void()>& prepare, const std::function<void()>& call, int samples = 7) {
  std::vector<double> took;
  for (int s = 0; s < samples; ++s) {
    prepare();
    const double start = now();
    call();
    took.push_back(now() - start);
  }
  std::nth_element(took.begin(), took.begin() + samples / 2, took.end());
  return took[samples / 2];
}

void print(const std::string& name, double value) {
  std::printf("%-34s %14.1f\n", name.c_str(), value);
  std::fflush(stdout);
}

/// A field of /proc/self/status in bytes.
double memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field, 0) == 0) {
      return 1024 * std::atof(line.c_str() + field.size() + 1);
    }
  }
  return 0;
}

/// By how many bytes the peak of a fresh process grows while it loads a file.
double load_memory(const std::string& path) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 0;
  }
  const pid_t child = fork();
  if (child == 0) {
    const double before = memory("VmRSS");
    const Module module = torch::jit::load(path);
    const double grown = memory("VmHWM") - before;
    const ssize_t written = write(ends[1], &grown, sizeof grown);
    _exit(written == sizeof grown ? 0 : 1);
  }
  close(ends[1]);
  double grown = 0;
  const ssize_t got = read(ends[0], &grown, sizeof grown);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return got == sizeof grown ? grown : 0;
}

std::string bytes_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void report_loading() {
  print("load 100 MB", measure_once([] {}, [] { torch::jit::load(model_path("big")); }, 3));
  const std::string bytes = bytes_of(model_path("big"));
  std::istringstream stream;
  print(
      "load 100 MB from a stream",
      measure_once([&] { stream = std::istringstream(bytes); }, [&] { torch::jit::load(stream); }, 3));
  Module module;
  const at::Tensor row = at::ones({1, 1024});
  print("load 100 MB and use all", measure_once([] {}, [&] { torch::jit::load(model_path("big")).forward({row}); }, 3));
  const at::Tensor image = at::ones({1, 3, 32, 32});
  print("load ResNet-18's code", measure_once([] {}, [] { torch::jit::load(model_path("resnet18_thin")); }));
  const auto load = [&] { module = torch::jit::load(model_path("resnet18_thin")); };
  print("first call of it", measure_once(load, [&] { module.forward({image}); }));
  print(
      "load and three calls",
      measure_once(
          [] {},
          [&] {
            load();
            for (int i = 0; i < 3; ++i) {
              module.forward({image});
            }
          }));
}

void report_language() {
  const auto unit = torch::jit::compile(kSource);
  const auto run = [&](const char* name, int64_t n) {
    auto& function = unit->get_function(c10::QualifiedName(name));
    return measure([&] { function({IValue(n)}); });
  };
  print("compile a source", measure([] { torch::jit::compile(kSource); }));
  print("fib(1000), a loop", run("fib", 1000));
  print("fib(12), a stack of calls", run("fib_calls", 12));
  print("sieve to 2000", run("sieve", 2000));
  print("1000 steps of floats", run("floats", 1000));
  print("strings, 200 of them", run("text", 200));
}

void report_operators() {
  constexpr int kSteps = 100;
  const at::Tensor x = at::ones({1}), y = at::ones({1});
  const auto unit = torch::jit::compile(chain_source(kSteps));
  auto& function = unit->get_function(c10::QualifiedName("chain"));
  const double eager = measure([&] { chain(x, y, kSteps); }) / kSteps;
  const double scripted = measure([&] { function({x, y}); }) / kSteps;
  print("add, eager", eager);
  print("add, in a program", scripted);
  const auto empty = torch::jit::compile("def same(x: Tensor) -> Tensor:\n    return x\n");
  auto& same = empty->get_function(c10::QualifiedName("same"));
  print("call of an empty function", measure([&] { same({x}); }));
}

void report_models() {
  const std::vector<std::tuple<std::string, std::string, at::Tensor>> models = {
      {"MLP of 16, batch 1", "mlp", at::ones({1, 16})},
      {"LSTM of 16 by hand, 20 steps", "lstm", at::ones({20, 1, 16})},
      {"two convolutions, 14 x 14", "conv", at::ones({1, 1, 14, 14})},
      {"ResNet-18, 224 x 224", "resnet18", at::ones({1, 3, 224, 224})},
      {"transformer layer, 128 of 512", "transformer", at::ones({1, 128, 512})},
  };
  for (const auto& [title, name, input] : models) {
    Module module = torch::jit::load(model_path(name));
    for (int i = 0; i < 3; ++i) {
      module.forward({input});
    }
    const at::Tensor& x = input;
    print(title, measure([&] { module.forward({x}); }));
  }
}

} // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  const double grown = only.empty() || only == "loading" ? load_memory(model_path("big")) : 0;
  at::set_num_threads(1);
  const c10::InferenceMode inference;
  if (only.empty() || only == "language") {
    report_language();
  }
  if (only.empty() || only == "operators") {
    report_operators();
  }
  if (only.empty() || only == "loading") {
    print("memory of loading 100 MB", grown);
    report_loading();
  }
  if (only.empty() || only == "models") {
    report_models();
  }
}
