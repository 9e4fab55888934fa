# Run by cpack on the tree that is to be packed: names and forms as Debian has them.
set(share "${CPACK_TEMPORARY_DIRECTORY}/usr/share")

file(MAKE_DIRECTORY "${share}/zsh/vendor-completions")
file(RENAME "${share}/zsh/site-functions/_bitzel" "${share}/zsh/vendor-completions/_bitzel")
file(REMOVE_RECURSE "${share}/zsh/site-functions")
file(RENAME "${share}/doc/bitzel/LICENSE" "${share}/doc/bitzel/copyright")
file(RENAME "${share}/doc/bitzel/CHANGELOG.md" "${share}/doc/bitzel/changelog")
file(READ "${share}/doc/bitzel/README.md" readme)
string(REPLACE "](LICENSE)" "](copyright)" readme "${readme}")
string(REPLACE "](CHANGELOG.md)" "](changelog.gz)" readme "${readme}")
file(WRITE "${share}/doc/bitzel/README.md" "${readme}")
file(GLOB pages "${share}/man/man*/*.[1-9]")
execute_process(COMMAND gzip -9 --no-name ${pages} "${share}/doc/bitzel/changelog"
  COMMAND_ERROR_IS_FATAL ANY)
