#pragma once

#include <csrc/nn/functional/dropout.h>
