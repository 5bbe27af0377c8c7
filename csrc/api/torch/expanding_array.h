#pragma once

#include <csrc/nn/expanding_array.h>
