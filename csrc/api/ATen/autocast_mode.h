// Thin face of <aten/autocast_mode.h> under the name that libtorch gives it, with what libtorch's brings along.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <aten/autocast_kernels.h>
#include <torch/library.h>
