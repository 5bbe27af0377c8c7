#pragma once

#include <csrc/nn/options/conv.h>
