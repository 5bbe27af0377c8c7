#pragma once
#include <aten/MemoryOverlap.h>
