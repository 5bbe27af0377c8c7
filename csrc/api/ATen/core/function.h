#pragma once

#include <aten/core/function.h>
