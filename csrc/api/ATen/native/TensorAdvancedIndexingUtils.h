#pragma once

#include <aten/native/TensorAdvancedIndexingUtils.h>
