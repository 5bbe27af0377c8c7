#pragma once

#include <aten/TensorIndexing.h>
