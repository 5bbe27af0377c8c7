#pragma once

#include <aten/SparseTensorImpl.h>
