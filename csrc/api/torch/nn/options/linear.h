#pragma once

#include <csrc/nn/options/linear.h>
