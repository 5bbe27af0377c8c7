#pragma once

#include <torch/sparse.h>
