#pragma once

#include <aten/core/dispatch/OperatorNameTable.h>
