#pragma once

#include <aten/core/dispatch/OperatorOptions.h>
