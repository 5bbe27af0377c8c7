// The LAPACK library, opened when it is first needed.
#pragma once

namespace at::native::lapack {

/// The address of a routine of LAPACK or BLAS by its Fortran name, such as "dgetrf_".
/// Throws when there is no LAPACK on this machine, or it lacks the routine.
void* find_routine(const char* name);

} // namespace at::native::lapack
