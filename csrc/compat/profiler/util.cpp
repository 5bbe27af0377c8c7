// What a failed SOFT_ASSERT does.
#include <csrc/compat/profiler/util.h>

#include <c10/util/Logging.h>

#include <atomic>

namespace torch::profiler::impl {
namespace {

#ifdef NDEBUG
constexpr bool kRaisesByDefault = false;
#else
constexpr bool kRaisesByDefault = true;
#endif

std::atomic<bool> raises{kRaisesByDefault};

} // namespace

bool softAssertRaises() {
  return raises.load();
}

void setSoftAssertRaises(std::optional<bool> value) {
  raises.store(value.value_or(kRaisesByDefault));
}

void logSoftAssert(const char* func, const char* file, uint32_t line, const char* cond, const std::string& args) {
  const std::string text = args.empty() ? std::string() : ": " + args;
  ::c10::MessageLogger(file, static_cast<int>(line), ::c10::GLOG_ERROR).stream()
      << "SOFT_ASSERT(" << cond << ") failed in " << func << text;
}

} // namespace torch::profiler::impl
