// TORCH_LIBRARY and its kind, and what programs call such operators with.
#pragma once

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/op_registration/op_registration.h>
#include <aten/custom_class.h>
#include <aten/library.h>
#include <c10/util/Optional.h>
#include <csrc/program_headers.h>
