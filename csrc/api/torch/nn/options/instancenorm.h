#pragma once

#include <csrc/nn/options/instancenorm.h>
