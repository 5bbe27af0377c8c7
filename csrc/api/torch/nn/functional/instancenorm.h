#pragma once

#include <csrc/nn/functional/instancenorm.h>
