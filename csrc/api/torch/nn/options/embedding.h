#pragma once

#include <csrc/nn/options/embedding.h>
