// The C++ part of what PyTorch's extensions include.
#pragma once

#include <aten/core/op_registration/op_registration.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <torch/all.h>
#include <torch/library.h>
#include <torch/python.h>
