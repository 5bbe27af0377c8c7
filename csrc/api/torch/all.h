#pragma once

#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/fft.h>
#include <torch/linalg.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>
