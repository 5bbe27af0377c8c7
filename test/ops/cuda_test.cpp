// What an operator gives on a GPU is what it gives on the CPU. Registered where a device is there: elsewhere there is
// no such test, rather than one that passes unseen.

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <torch/cuda.h>

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <unistd.h>

#include "test/ops/determined.h"
#include "test/ops/runner.h"
#include "test/support/compare.h"
#include "test/support/host_view.h"

namespace test {

namespace {

const c10::Device kGpu(c10::DeviceType::CUDA, 0);

/// Strides stay, so that layouts are compared too.
at::Tensor on_gpu(const at::Tensor& tensor) {
  return tensor.to(kGpu);
}

Stack with_device(const BoxedOp& op, Stack args) {
  if (const auto device = op.position("device"); device.has_value()) {
    args[*device] = kGpu;
  }
  return args;
}

/// Both compute in their own order: a few roundings more than against an exact result.
Tolerance between_devices(const OpRow& row, c10::ScalarType dtype) {
  const Tolerance tolerance = tolerance_for(dtype);
  return {8 * row.tolerance * tolerance.rtol, 8 * row.tolerance * tolerance.atol};
}

void compare(
    const OpRow& row,
    const at::Tensor& gpu,
    const at::Tensor& cpu,
    bool random,
    const std::string& note,
    Failures& failures) {
  if (gpu.defined() != cpu.defined()) {
    return failures.add(note + ": only one of the results is defined");
  }
  if (!cpu.defined()) {
    return;
  }
  if (gpu.sizes() != cpu.sizes() || gpu.scalar_type() != cpu.scalar_type()) {
    return failures.add(note + ": on the GPU " + describe(gpu) + ", on the CPU " + describe(cpu));
  }
  if (random) {
    return;
  }
  // The CPU mixes bytes of images by whole weights, and rounds otherwise.
  const auto is_of = [&](std::string_view family) {
    return std::string_view(row.name).find(family) != std::string_view::npos;
  };
  const bool mixes_bytes =
      cpu.scalar_type() == c10::ScalarType::Byte && (is_of("upsample_bi") || is_of("upsample_lanczos"));
  const std::string difference = mixes_bytes ? first_difference(gpu.to(at::kFloat), cpu.to(at::kFloat), {0, 1})
                                             : first_difference(gpu, cpu, between_devices(row, cpu.scalar_type()));
  if (!difference.empty()) {
    failures.add(note + ": " + difference);
  }
}

/// The results on the host. Throws where one is elsewhere than its inputs.
std::vector<at::Tensor> brought_back(const std::vector<at::Tensor>& results) {
  std::vector<at::Tensor> back;
  for (const at::Tensor& result : results) {
    if (result.defined() && result.device() != kGpu) {
      throw std::runtime_error("the result for inputs on the GPU is on " + result.device().str());
    }
    back.push_back(result.defined() ? result.cpu() : result);
  }
  return back;
}

/// Is that an operator, a dtype or a setting that there is no kernel for, and that says so?
bool says_unsupported(const c10::Error& e) {
  return dynamic_cast<const c10::NotImplementedError*>(&e) != nullptr ||
      std::string_view(e.what_without_backtrace()).find("not supported on CUDA") != std::string_view::npos;
}

bool device_is_lost() {
  try {
    torch::cuda::synchronize();
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

/// After an illegal access every further call fails, in this process, a kernel may never end, and the host may crash:
/// the exit code tells tools/dev/cuda_check to go on in another process, behind the row that TENSOR_TEST_OP_AFTER
/// names. Who stops the test for time learns the row, too.
constexpr int kLeftOff = 86;
unsigned row_seconds() {
  return std::getenv("TENSOR_TEST_OP_SAMPLES") == nullptr
      ? 60
      : 240; // what checks each access takes its time, to load libraries too
}
std::string row_now;

[[noreturn]] void leave_off(const std::string& row, const char* why) {
  const std::string text = "left off after: " + row + " (" + why + ")\n";
  static_cast<void>(!::write(STDOUT_FILENO, text.data(), text.size()));
  std::_Exit(kLeftOff);
}

void leave_off_for_signal(int signal) {
  leave_off(row_now, signal == SIGALRM ? "took too long" : signal == SIGTERM ? "stopped for time" : "crashed");
}

/// The most samples of a row, spread over its dtypes, where TENSOR_TEST_OP_SAMPLES names it: for compute-sanitizer.
size_t samples_of_dtype(size_t i, size_t dtypes) {
  static const char* const most = std::getenv("TENSOR_TEST_OP_SAMPLES");
  if (most == nullptr) {
    return SIZE_MAX;
  }
  const size_t n = std::strtoull(most, nullptr, 10);
  return (i + 1) * n / dtypes - i * n / dtypes;
}

void run() {
  at::globalContext().setAllowTF32CuDNN(false); // compared is float
  for (const int signal : {SIGALRM, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) {
    std::signal(signal, leave_off_for_signal);
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0); // what failed so far is not lost
  std::set<std::string> without_kernel;
  const char* after = std::getenv("TENSOR_TEST_OP_AFTER");
  bool reached = after == nullptr;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (!reached) {
      reached = std::string(row.name) == after;
      return;
    }
    row_now = row.name;
    ::alarm(row_seconds());
    const bool random = traits_of(row).random;
    const auto dtypes = dtypes_of(row, Purpose::Values);
    for (size_t d = 0; d < dtypes.size(); ++d) {
      const c10::ScalarType dtype = dtypes[d];
      size_t left = samples_of_dtype(d, dtypes.size());
      if (left == 0) {
        continue;
      }
      for (Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
        if (left-- == 0) {
          break;
        }
        sample.note += " " + dtype_name(dtype);
        failures.guard(sample.note, [&] {
          // The GPU gets copies of what the arguments were before.
          std::vector<at::Tensor> cpu =
              op.tensors(op.written_arguments().empty() ? sample.args : with_copies(sample.args));
          if (cpu.empty()) {
            return;
          }
          std::vector<at::Tensor> gpu;
          try {
            gpu = brought_back(op.tensors(with_device(op, with_tensors(sample.args, on_gpu))));
          } catch (const c10::Error& e) {
            if (!says_unsupported(e)) {
              throw;
            }
            without_kernel.insert(row.name);
            return;
          }
          gpu = determined(row.name, op, sample.args, std::move(gpu));
          cpu = determined(row.name, op, sample.args, std::move(cpu));
          if (gpu.size() != cpu.size()) {
            return failures.add(sample.note + ": another number of results than on the CPU");
          }
          for (size_t i = 0; i < cpu.size(); ++i) {
            compare(row, gpu[i], cpu[i], random, sample.note, failures);
          }
        });
      }
    }
    if (!failures.none() && device_is_lost()) {
      std::printf("%s:%s\n", row.name, failures.text().c_str());
      std::fflush(nullptr);
      leave_off(row.name, "the device is lost");
    }
  });
  ::alarm(0);
  std::printf("%zu operators have no CUDA kernel for some of their samples:\n", without_kernel.size());
  for (const std::string& name : without_kernel) {
    std::printf("  %s\n", name.c_str());
  }
}

struct Registered {
  Registered() {
    if (torch::cuda::is_available()) {
      REGISTER_TEST_CASE(run, "CUDA results are the CPU's", "[ops][cuda]");
    }
  }
};
const Registered kRegistered;

} // namespace

} // namespace test
