#pragma once

#include <aten/CPUApplyUtils.h>
