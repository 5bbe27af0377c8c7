# Sources of one folder compiled together, so that a build from nothing reads the headers once for all of them.
# Each source still has to compile alone, as it does in builds for daily work (tools/dev/check).

# compile_in_batches(TARGET SIZE KIND SOURCE...): up to SIZE of those sources of TARGET that share a folder become one. KIND
# is part of their name, for several calls with sources of one folder.
function(compile_in_batches target size kind)
  set(folder "")
  foreach(source ${ARGN})
    get_filename_component(source_folder ${source} DIRECTORY)
    if(NOT source_folder STREQUAL folder)
      set(folder ${source_folder})
      set(place 0)
      file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${folder})
      string(MAKE_C_IDENTIFIER "${name}" name)
    endif()
    math(EXPR batch "${place} / ${size}")
    math(EXPR place "${place} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${kind}${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
