#pragma once

#include <csrc/nn/functional/linear.h>
