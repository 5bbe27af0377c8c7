#pragma once

#include <aten/core/op_types.h>
