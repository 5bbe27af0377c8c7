#pragma once

#include <aten/SparseTensorUtils.h>
