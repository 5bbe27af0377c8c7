#pragma once

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/TensorUtils.h>
#include <c10/util/irange.h>
#include <torch/amp/autocast_guard.h>
#include <torch/amp/grad_scaler.h>
#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/custom_class.h>
#include <torch/data.h>
#include <torch/fft.h>
#include <torch/library.h>
#include <torch/linalg.h>
#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/serialize.h>
#include <torch/sparse.h>
#include <torch/special.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>
#include <torch/xpu.h>

#include <queue>
#include <stack>
