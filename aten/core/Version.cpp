#include <aten/core/Version.h>

#include <aten/core/Context.h>
#include <aten/native/onednn/Version.h>
#include <aten/native/support/cpu_isa.h>
#include <aten/parallel/Parallel.h>

#include <array>
#include <sstream>

namespace at {

std::string get_openmp_version() {
  // The date that a compiler's OpenMP support carries, and the release it stands for.
  struct Release {
    int date;
    const char* name;
  };
  constexpr std::array<Release, 6> kReleases{
      {{200805, "3.0"}, {201107, "3.1"}, {201307, "4.0"}, {201511, "4.5"}, {201811, "5.0"}, {202011, "5.1"}}};
  std::ostringstream out;
  out << "OpenMP " << _OPENMP;
  for (const Release& release : kReleases) {
    if (release.date == _OPENMP) {
      out << " (a.k.a. OpenMP " << release.name << ")";
    }
  }
  return out.str();
}

std::string get_mkldnn_version() {
  const dnnl_version_t* v = dnnl_version();
  std::ostringstream out;
  out << "oneDNN v" << v->major << "." << v->minor << "." << v->patch << " (Git Hash " << v->hash << ")";
  return out.str();
}

std::string get_mkl_version() {
  return "MKL not found";
}

std::string get_cxx_flags() {
  return TENSOR_CXX_FLAGS;
}

std::string get_cpu_capability() {
  constexpr std::array<const char*, 3> kNames{"DEFAULT", "AVX2", "AVX512"};
  return kNames[static_cast<size_t>(native::cpu_isa_level())];
}

std::string show_config() {
  std::ostringstream out;
  out << "libtensor " << TENSOR_VERSION << ", built with:\n";
#if defined(__clang__)
  out << "  - clang " << __clang_major__ << "." << __clang_minor__ << "." << __clang_patchlevel__ << "\n";
#elif defined(__GNUC__)
  out << "  - GCC " << __GNUC__ << "." << __GNUC_MINOR__ << "\n";
#endif
  out << "  - C++ Version: " << __cplusplus << "\n";
  out << "  - " << get_mkldnn_version() << "\n";
  out << "  - " << get_openmp_version() << "\n";
  out << "  - LAPACK is " << (hasLAPACK() ? "enabled (own kernels)" : "disabled") << "\n";
  out << "  - CPU capability usage: " << get_cpu_capability() << "\n";
  out << "  - CUDA: " << (hasCUDA() ? "available" : detail::getCUDAHooks().unavailable_reason()) << "\n";
  out << "  - Build settings: CXX_FLAGS=" << get_cxx_flags() << "\n";
  return out.str();
}

} // namespace at
