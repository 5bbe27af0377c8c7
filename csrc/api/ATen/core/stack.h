#pragma once

#include <aten/core/stack.h>
