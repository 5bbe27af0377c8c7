#pragma once

#include <csrc/nn/options/pooling.h>
