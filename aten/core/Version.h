// What the library is made of and what it found on this machine, in words.
#pragma once

#include <c10/macros/Export.h>

#include <string>

namespace at {

/// A paragraph with all of the below, for bug reports.
TORCH_API std::string show_config();

/// "OpenMP 201511 (a.k.a. OpenMP 4.5)".
TORCH_API std::string get_openmp_version();
/// The version of oneDNN that runs, which may be newer than the one the library was built with.
TORCH_API std::string get_mkldnn_version();
/// "MKL not found": the library does not use MKL.
TORCH_API std::string get_mkl_version();

/// The flags that the library was compiled with.
TORCH_API std::string get_cxx_flags();

/// The instruction set whose kernels run here: "DEFAULT" (x86-64-v2), "AVX2" (v3) or "AVX512" (v4).
TORCH_API std::string get_cpu_capability();

} // namespace at
