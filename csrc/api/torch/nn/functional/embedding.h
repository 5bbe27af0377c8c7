#pragma once

#include <csrc/nn/functional/embedding.h>
