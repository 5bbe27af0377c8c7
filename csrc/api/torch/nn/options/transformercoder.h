#pragma once

#include <csrc/nn/options/transformercoder.h>
