#pragma once

#include <aten/core/Formatting.h>
