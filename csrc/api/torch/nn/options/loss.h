#pragma once

#include <csrc/nn/options/loss.h>
