#pragma once

#include <aten/native/IndexingUtils.h>
