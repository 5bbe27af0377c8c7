#pragma once

#include <aten/native/LinearAlgebraUtils.h>
