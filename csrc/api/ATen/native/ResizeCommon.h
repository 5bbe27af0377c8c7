#pragma once

#include <aten/native/ResizeCommon.h>
