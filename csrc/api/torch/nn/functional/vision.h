#pragma once

#include <csrc/nn/functional/vision.h>
