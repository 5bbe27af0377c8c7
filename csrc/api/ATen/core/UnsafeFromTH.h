#pragma once

#include <aten/core/UnsafeFromTH.h>
