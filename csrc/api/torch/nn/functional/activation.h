#pragma once

#include <csrc/nn/functional/activation.h>
