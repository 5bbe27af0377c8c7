#include <aten/native/cpu/generic/reduce_drive.h>

#include <aten/parallel/Parallel.h>

#include <memory>

namespace at::native {

namespace {

using Buffer = std::unique_ptr<std::byte[]>;

Buffer accumulators(int64_t count, const Folder& folder) {
  return std::make_unique_for_overwrite<std::byte[]>(count * folder.acc_size);
}

void reduce_rows(const ReducePlan& plan, const Folder& folder) {
  WalkDims dims = plan.reduced;
  dims.push_back(plan.inner);
  const int64_t count = plan.inputs_per_output();
  const int64_t units = at::divup(count, kUnitInputs);
  if (units <= 1 || plan.kept_count >= at::get_num_threads()) {
    const int64_t grain = std::max<int64_t>(1, kUnitInputs / std::max<int64_t>(1, count));
    at::parallel_for(
        0, plan.kept_count, grain, [&](int64_t begin, int64_t end) { folder.rows(plan, dims, begin, end); });
    return;
  }
  // Few long outputs: their units are the parallel tasks.
  const Buffer partial = accumulators(plan.kept_count * units, folder);
  at::parallel_for(0, plan.kept_count * units, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const IndexCounter at(plan.kept, task / units);
      const int64_t first = task % units * kUnitInputs;
      folder.row_unit(at.in, dims, first, std::min(count, first + kUnitInputs), partial.get() + task * folder.acc_size);
    }
  });
  const Buffer result = accumulators(1, folder);
  IndexCounter at(plan.kept);
  for (int64_t o = 0; o < plan.kept_count; ++o, at.next()) {
    folder.join(partial.get() + o * units * folder.acc_size, units, 1, result.get());
    folder.emit(at.out, 0, 1, result.get());
  }
}

void reduce_columns(const ReducePlan& plan, const Folder& folder) {
  const WalkDim& columns = plan.inner;
  const int64_t blocks = at::divup(columns.size, kBlockColumns);
  const int64_t tasks = plan.kept_count * blocks;
  if (tasks == 0) {
    return;
  }
  const int64_t rows = plan.reduced_count;
  const int64_t widest = std::min(columns.size, kBlockColumns);
  const auto first_column = [&](int64_t task) { return task % blocks * kBlockColumns; };
  const auto width_of = [&](int64_t task) { return std::min(kBlockColumns, columns.size - first_column(task)); };
  const auto units = [&](int64_t task, int64_t begin, int64_t end, std::byte* acc) {
    const IndexCounter at(plan.kept, task / blocks);
    folder.column_units(
        {at.in + first_column(task) * columns.in, columns.in, width_of(task)}, plan.reduced, begin, end, acc);
  };
  const auto emit = [&](int64_t task, const std::byte* acc) {
    const IndexCounter at(plan.kept, task / blocks);
    folder.emit(at.out + first_column(task) * columns.out, columns.out, width_of(task), acc);
  };

  if (tasks < at::get_num_threads() && rows > unit_rows(widest)) {
    // Few blocks of long columns: their units are the parallel tasks.
    const Buffer result = accumulators(widest, folder);
    for (int64_t task = 0; task < tasks; ++task) {
      const int64_t width = width_of(task);
      const int64_t unit = unit_rows(width);
      const int64_t unit_count = at::divup(rows, unit);
      const Buffer partial = accumulators(unit_count * width, folder);
      at::parallel_for(0, unit_count, 1, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; ++u) {
          units(task, u * unit, std::min(rows, (u + 1) * unit), partial.get() + u * width * folder.acc_size);
        }
      });
      folder.join(partial.get(), unit_count, width, result.get());
      emit(task, result.get());
    }
    return;
  }
  const int64_t work = std::max<int64_t>(1, rows * widest);
  at::parallel_for(0, tasks, std::max<int64_t>(1, kUnitInputs / work), [&](int64_t begin, int64_t end) {
    const Buffer acc = accumulators(widest, folder);
    for (int64_t task = begin; task < end; ++task) {
      units(task, 0, rows, acc.get());
      emit(task, acc.get());
    }
  });
}

} // namespace

void run_reduction(const ReducePlan& plan, const Folder& folder) {
  if (plan.inner_reduced) {
    reduce_rows(plan, folder);
  } else {
    reduce_columns(plan, folder);
  }
}

} // namespace at::native
