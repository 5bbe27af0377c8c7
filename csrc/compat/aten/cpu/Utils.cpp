#include <csrc/compat/aten/cpu/Utils.h>

#include <fstream>
#include <set>
#include <utility>
#include <vector>

#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#endif

namespace at::cpu {

namespace {

#if defined(__x86_64__)
bool has_amx_tiles() {
  constexpr unsigned kTiles = 1u << 24;
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kTiles) != 0;
}
bool has_amx_fp16() {
  constexpr unsigned kFp16 = 1u << 21;
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kFp16) != 0;
}
#define AT_CPU_SUPPORTS(feature) (__builtin_cpu_supports(feature) != 0)
#else
bool has_amx_tiles() {
  return false;
}
bool has_amx_fp16() {
  return false;
}
#define AT_CPU_SUPPORTS(feature) false
#endif

uint32_t positive(long value) {
  return value > 0 ? static_cast<uint32_t>(value) : 0;
}

/// The values of one field of /proc/cpuinfo, one a logical core.
std::vector<std::string> cpuinfo(const std::string& field) {
  std::vector<std::string> values;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, field.size(), field) != 0) {
      continue;
    }
    if (line.find_first_not_of(" \t", field.size()) != colon) {
      continue;
    }
    values.push_back(colon + 2 <= line.size() ? line.substr(colon + 2) : std::string());
  }
  return values;
}

int64_t logical_cores() {
  return positive(sysconf(_SC_NPROCESSORS_ONLN));
}
/// Cores that differ in socket or number; all logical ones where the system does not tell.
int64_t physical_cores() {
  const auto sockets = cpuinfo("physical id");
  const auto cores = cpuinfo("core id");
  if (cores.empty() || sockets.size() != cores.size()) {
    return logical_cores();
  }
  std::set<std::pair<std::string, std::string>> distinct;
  for (size_t i = 0; i < cores.size(); ++i) {
    distinct.emplace(sockets[i], cores[i]);
  }
  return static_cast<int64_t>(distinct.size());
}

} // namespace

bool is_avx2_supported() {
  return AT_CPU_SUPPORTS("avx2");
}
bool is_avx512_supported() {
  return AT_CPU_SUPPORTS("avx512f") && AT_CPU_SUPPORTS("avx512bw") && AT_CPU_SUPPORTS("avx512dq") &&
      AT_CPU_SUPPORTS("avx512vl");
}
bool is_avx512_vnni_supported() {
  return AT_CPU_SUPPORTS("avx512vnni");
}
bool is_avx512_bf16_supported() {
  return AT_CPU_SUPPORTS("avx512bf16");
}
bool is_amx_tile_supported() {
  return has_amx_tiles();
}
bool is_amx_fp16_supported() {
  return has_amx_tiles() && has_amx_fp16();
}

bool init_amx() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return has_amx_tiles() && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

uint32_t L1d_cache_size() {
  return positive(sysconf(_SC_LEVEL1_DCACHE_SIZE));
}
uint32_t L2_cache_size() {
  return positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
}

std::unordered_map<std::string, c10::IValue> get_cpu_capabilities() {
  std::unordered_map<std::string, c10::IValue> found;
  found["sse4_1"] = AT_CPU_SUPPORTS("sse4.1");
  found["sse4_2"] = AT_CPU_SUPPORTS("sse4.2");
  found["popcnt"] = AT_CPU_SUPPORTS("popcnt");
  found["avx"] = AT_CPU_SUPPORTS("avx");
  found["avx2"] = is_avx2_supported();
  found["fma3"] = AT_CPU_SUPPORTS("fma");
  found["bmi"] = AT_CPU_SUPPORTS("bmi");
  found["bmi2"] = AT_CPU_SUPPORTS("bmi2");
  found["avx512_f"] = AT_CPU_SUPPORTS("avx512f");
  found["avx512_bw"] = AT_CPU_SUPPORTS("avx512bw");
  found["avx512_cd"] = AT_CPU_SUPPORTS("avx512cd");
  found["avx512_dq"] = AT_CPU_SUPPORTS("avx512dq");
  found["avx512_vl"] = AT_CPU_SUPPORTS("avx512vl");
  found["avx512_vbmi"] = AT_CPU_SUPPORTS("avx512vbmi");
  found["avx512_vnni"] = is_avx512_vnni_supported();
  found["avx512_bf16"] = is_avx512_bf16_supported();
  found["amx_tile"] = is_amx_tile_supported();
  found["amx_fp16"] = is_amx_fp16_supported();
#if defined(__x86_64__)
  found["architecture"] = std::string("x86_64");
#elif defined(__aarch64__)
  found["architecture"] = std::string("aarch64");
#else
  found["architecture"] = std::string("unknown");
#endif
  const auto names = cpuinfo("model name");
  found["cpu_name"] = names.empty() ? std::string("unknown") : names.front();
  found["l1d_cache_size"] = static_cast<int64_t>(L1d_cache_size());
  found["l2_cache_size"] = static_cast<int64_t>(L2_cache_size());
  found["num_logical_cores"] = logical_cores();
  found["num_physical_cores"] = physical_cores();
  return found;
}

#undef AT_CPU_SUPPORTS

} // namespace at::cpu
