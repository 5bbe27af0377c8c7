// Operators, classes and values as TorchScript sees them. torch::jit::Module and torch::jit::load are not there yet.
#pragma once

#include <ATen/ATen.h>
#include <aten/core/op_registration/op_registration.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <csrc/jit/executor_settings.h>
#include <csrc/jit/types.h>
#include <torch/autograd.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/autograd/InferenceMode.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/custom_class.h>
#include <torch/library.h>
#include <torch/types.h>
