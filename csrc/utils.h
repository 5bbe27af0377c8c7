// Settings and guards under their torch:: names.
#pragma once

#include <aten/core/Generator.h>
#include <aten/core/random.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/GradMode.h>

namespace torch {

/// `torch::NoGradGuard no_grad;` records nothing for autograd in its scope.
using NoGradGuard = c10::NoGradGuard;
/// Sets gradient recording for its scope.
using AutoGradMode = c10::AutoGradMode;

using at::get_num_interop_threads;
using at::get_num_threads;
using at::manual_seed;
using at::set_num_interop_threads;
using at::set_num_threads;
using at::init_num_threads;

/// Are both undefined, or equal in size and values?
TORCH_API bool equal_if_defined(const at::Tensor& a, const at::Tensor& b);

} // namespace torch
