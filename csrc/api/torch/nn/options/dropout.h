#pragma once

#include <csrc/nn/options/dropout.h>
