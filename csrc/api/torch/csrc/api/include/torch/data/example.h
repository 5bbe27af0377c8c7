#pragma once

#include <torch/data/example.h>
