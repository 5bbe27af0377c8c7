#pragma once

#include <aten/native/UpSample.h>
