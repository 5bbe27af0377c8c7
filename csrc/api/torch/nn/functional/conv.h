#pragma once

#include <csrc/nn/functional/conv.h>
