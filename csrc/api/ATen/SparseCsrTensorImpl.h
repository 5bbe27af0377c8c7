#pragma once

#include <aten/SparseCsrTensorImpl.h>
