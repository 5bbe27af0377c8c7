#pragma once

#include <csrc/nn/functional/loss.h>
