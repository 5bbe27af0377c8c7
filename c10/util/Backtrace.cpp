#include <c10/util/Backtrace.h>

#include <c10/util/Type.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>

namespace c10 {

namespace {

std::string describe_frame(size_t index, const void* address) {
  Dl_info info{};
  const bool known = dladdr(address, &info) != 0;
  const auto pc = reinterpret_cast<uintptr_t>(address);
  std::string symbol = "<unknown function>";
  uintptr_t offset = 0;
  if (known && info.dli_sname != nullptr) {
    symbol = demangle(info.dli_sname);
    offset = pc - reinterpret_cast<uintptr_t>(info.dli_saddr);
  } else if (known) {
    offset = pc - reinterpret_cast<uintptr_t>(info.dli_fbase);
  }
  char numbers[64];
  std::snprintf(numbers, sizeof(numbers), " + 0x%" PRIxPTR " (0x%" PRIxPTR " in ", offset, pc);
  return "frame #" + std::to_string(index) + ": " + symbol + numbers +
      (known && info.dli_fname != nullptr ? info.dli_fname : "<unknown file>") + ")\n";
}

class RecordedFrames final : public OptimisticLazyValue<std::string> {
 public:
  explicit RecordedFrames(std::vector<void*> frames) : frames_(std::move(frames)) {}

 private:
  std::string compute() const override {
    std::string text;
    for (size_t i = 0; i < frames_.size(); ++i) {
      text += describe_frame(i, frames_[i]);
    }
    return text;
  }

  std::vector<void*> frames_;
};

} // namespace

C10_NOINLINE Backtrace get_lazy_backtrace(size_t frames_to_skip, size_t maximum_number_of_frames, bool) {
  constexpr size_t kMaxFrames = 128;
  void* addresses[kMaxFrames];
  const size_t skip = frames_to_skip + 1; // this function
  const size_t wanted = std::min(kMaxFrames, maximum_number_of_frames + skip);
  const auto found = static_cast<size_t>(::backtrace(addresses, static_cast<int>(wanted)));
  std::vector<void*> frames(addresses + std::min(skip, found), addresses + found);
  return std::make_shared<RecordedFrames>(std::move(frames));
}

C10_NOINLINE std::string get_backtrace(
    size_t frames_to_skip, size_t maximum_number_of_frames, bool skip_python_frames) {
  return get_lazy_backtrace(frames_to_skip + 1, maximum_number_of_frames, skip_python_frames)->get();
}

} // namespace c10
