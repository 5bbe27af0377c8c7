#pragma once

#include <aten/core/LegacyTypeDispatch.h>
