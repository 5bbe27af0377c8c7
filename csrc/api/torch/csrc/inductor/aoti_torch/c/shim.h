#pragma once
#include <csrc/cuda/stable_shim.h>
#include <csrc/stable/shim.h>
