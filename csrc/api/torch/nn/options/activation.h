#pragma once

#include <csrc/nn/options/activation.h>
