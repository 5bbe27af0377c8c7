#pragma once

#include <csrc/nn/options/upsampling.h>
