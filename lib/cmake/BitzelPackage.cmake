# What `cmake --install` puts beside the program, and the Debian package that `cpack`
# makes of all of it. The layout is the usual one below any prefix; what Debian wants
# otherwise is in BitzelDebian.cmake.
include(GNUInstallDirs)
# All that README.md leads to lies below it as it does here, so that its links work.
set(pages README.md CHANGELOG.md LICENSE)
set(rest ${pages})
while(rest)
  list(POP_FRONT rest page)
  get_filename_component(folder "${page}" DIRECTORY)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${page}")
    install(DIRECTORY "${page}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}"
      PATTERN "__pycache__" EXCLUDE)
    continue()
  endif()
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}")
  if(page MATCHES "\\.md$")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${page}")
    file(READ "${page}" text)
    string(REPLACE "](" "@to(" text "${text}")
    string(REGEX REPLACE "[][;]" " " text "${text}") # a list would be split at these
    string(REGEX MATCHALL "@to\\([^)# ]+" links "${text}")
    foreach(link ${links})
      string(SUBSTRING "${link}" 4 -1 link)
      get_filename_component(link "${link}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}/${folder}")
      if(EXISTS "${link}/README.md")
        set(link "${link}/README.md")
      endif()
      file(RELATIVE_PATH link "${PROJECT_SOURCE_DIR}" "${link}")
      if(NOT link IN_LIST pages AND EXISTS "${PROJECT_SOURCE_DIR}/${link}")
        list(APPEND pages "${link}")
        list(APPEND rest "${link}")
      endif()
    endforeach()
  endif()
endwhile()
install(DIRECTORY cmd/bitbake DESTINATION "${CMAKE_INSTALL_DATADIR}/bitzel"
  USE_SOURCE_PERMISSIONS)
set(completion "${PROJECT_SOURCE_DIR}/cmd/bitzel/completion")
install(FILES "${completion}/bitzel.bash" RENAME bitzel
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${completion}/bitzel.zsh" RENAME _bitzel
  DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
install(FILES "${completion}/bitzel.fish"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")

# libbitzel, for programs that have jobs done.
install(TARGETS bitzel_shared)
install(FILES lib/include/bitzel/jobs.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/bitzel")
install(FILES lib/bindings/bitzel.lua DESTINATION "${CMAKE_INSTALL_DATADIR}/lua/5.1")
install(FILES lib/bindings/bitzel.py DESTINATION lib/python3/dist-packages)
set(pc "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH BZ_PC_UP "/${pc}" "/")
configure_file(lib/cmake/bitzel.pc.in bitzel.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/bitzel.pc" DESTINATION "${pc}")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME bitzel)
set(CPACK_PACKAGE_VENDOR "the bitzel authors")
set(CPACK_PACKAGE_CONTACT "the bitzel authors <authors@bitzel.invalid>")
set(CPACK_PACKAGE_DESCRIPTION
"bitzel reads BitBake recipes, layers and configurations, and kas project
files. It signs every task with all that counts for it, runs those whose
results are not stored yet, each in a sandbox that shows it no more than
what it depends on, and stores the results by content, to be shared among
projects and machines.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/BitzelDebian.cmake")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# The library is for whoever links with it; its name says with what it is compatible.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# What the program is linked with is found by dpkg-shlibdeps; two libraries it loads when
# it first needs them.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "libarchive13 | libarchive13t64, libcurl4 (>= 7.87) | libcurl4t64")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "git, patch, ca-certificates")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gcc, make, perl, graphviz, bash-completion")
include(CPack)
