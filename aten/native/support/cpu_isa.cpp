#include <aten/native/support/cpu_isa.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace at::native::detail {
namespace {

int best_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return v4 ? 2 : v3 ? 1 : 0;
#else
  return 0;
#endif
}

int wanted_level() {
  const char* wanted = std::getenv("LIBTENSOR_CPU_ISA");
  if (wanted == nullptr) {
    return 2;
  }
  const std::string_view name(wanted);
  return name == "v2" ? 0 : name == "v3" ? 1 : 2;
}

} // namespace

const int cpu_isa_level_value = std::min(best_level(), wanted_level());

} // namespace at::native::detail
