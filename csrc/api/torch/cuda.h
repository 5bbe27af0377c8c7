#pragma once

#include <csrc/cuda.h>
