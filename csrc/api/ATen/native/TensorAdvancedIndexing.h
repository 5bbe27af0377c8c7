#pragma once

#include <aten/native/IndexingUtils.h>
#include <aten/native/ReductionType.h>
#include <aten/native/TensorAdvancedIndexingUtils.h>
