#pragma once

#include <aten/native/ReduceOpsUtils.h>
