#pragma once

#include <aten/native/NonEmptyUtils.h>
