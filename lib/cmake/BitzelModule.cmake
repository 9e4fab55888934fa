# bz_module(<name> SOURCES <c files> [DEPS <modules>] [LIBS <third-party targets>])
#
# A folder is a module is one static library. DEPS names every module whose headers
# it may include; the lint/layers test reads the list that is collected here.
function(bz_module name)
  cmake_parse_arguments(PARSE_ARGV 1 MOD "" "" "SOURCES;DEPS;LIBS")
  add_library(bz_${name} STATIC ${MOD_SOURCES})
  set(links ${MOD_DEPS})
  list(TRANSFORM links PREPEND bz_)
  target_include_directories(bz_${name} PUBLIC "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_SOURCE_DIR}")
  target_link_libraries(bz_${name} PUBLIC ${links} PRIVATE bz_flags ${MOD_LIBS})

  file(RELATIVE_PATH where "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  list(JOIN MOD_DEPS " " deps)
  set_property(GLOBAL APPEND_STRING PROPERTY BZ_LAYERS "${name} ${where} ${deps}\n")
  set_property(GLOBAL APPEND PROPERTY BZ_MODULES ${name})
  set_property(GLOBAL PROPERTY BZ_SOURCES_${name} ${MOD_SOURCES})
endfunction()

# bz_unit_tests(): a program for each tests/unit/<module>/test_<name>.c, linked with that
# module and what is below it, so that a call upwards does not link.
function(bz_unit_tests)
  get_property(modules GLOBAL PROPERTY BZ_MODULES)
  foreach(module ${modules})
    file(GLOB tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/${module}/test_*.c")
    if(NOT tests)
      message(SEND_ERROR "module ${module} has no unit test")
    endif()
    foreach(test ${tests})
      get_filename_component(stem "${test}" NAME_WE)
      string(REGEX REPLACE "^test_" "" stem "${stem}")
      set(exe "test_${module}_${stem}")
      add_executable(${exe} "${test}")
      target_link_libraries(${exe} PRIVATE bz_${module} bz_flags PkgConfig::CMOCKA)
      add_test(NAME unit/${module}/${stem} COMMAND ${exe})
      set_tests_properties(unit/${module}/${stem} PROPERTIES LABELS unit TIMEOUT 120)
    endforeach()
  endforeach()
endfunction()
