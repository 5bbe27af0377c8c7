#pragma once
#include <csrc/stable/tensor.h>
#include <csrc/stable/version.h>
