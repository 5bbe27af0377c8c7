#pragma once

#include <aten/native/resize.h>
