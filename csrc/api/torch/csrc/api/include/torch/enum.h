#pragma once

#include <torch/enum.h>
