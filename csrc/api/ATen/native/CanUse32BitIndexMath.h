#pragma once

#include <aten/native/CanUse32BitIndexMath.h>
