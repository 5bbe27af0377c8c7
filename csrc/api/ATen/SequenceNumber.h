// Thin face of <aten/SequenceNumber.h> under the name that libtorch gives it.
#pragma once

#include <aten/SequenceNumber.h>
