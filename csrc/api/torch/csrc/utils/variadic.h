#pragma once

#include <csrc/utils/variadic.h>
