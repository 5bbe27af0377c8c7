#pragma once

#include <csrc/nn/functional/upsampling.h>
