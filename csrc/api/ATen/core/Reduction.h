#pragma once

#include <aten/core/Reduction.h>
