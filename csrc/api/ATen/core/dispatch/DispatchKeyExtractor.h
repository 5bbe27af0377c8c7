#pragma once

#include <aten/core/dispatch/DispatchKeyExtractor.h>
