#pragma once

#include <csrc/nn/functional/pooling.h>
