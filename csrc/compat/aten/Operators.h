// `at::_ops::NAME_OVERLOAD` for every operator: call, redispatch, schema. The macros name one, or a kernel that calls
// it.
#pragma once

#include <aten/Operators.h>
#include <aten/library/library.h>

#define ATEN_OP(op_name) at::_ops::op_name
#define ATEN_OP2(op_name, overload) at::_ops::op_name##_##overload
#define ATEN_FN(op_name) at::_ops::op_name::call
#define ATEN_FN2(op_name, overload) at::_ops::op_name##_##overload::call
