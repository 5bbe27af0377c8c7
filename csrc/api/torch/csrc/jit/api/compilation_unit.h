#pragma once

#include <csrc/jit/compilation_unit.h>
