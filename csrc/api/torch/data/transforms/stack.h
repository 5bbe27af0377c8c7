#pragma once

#include <csrc/data/transforms/stack.h>
