#pragma once

#include <csrc/nn/options/vision.h>
