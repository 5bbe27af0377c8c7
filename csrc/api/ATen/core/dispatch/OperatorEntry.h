#pragma once

#include <aten/core/dispatch/OperatorEntry.h>
