# What "make install" puts where, and the Debian package that "make deb" makes of it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS treacle_cli treacle treacle_shared)
install(DIRECTORY include/treacle TYPE INCLUDE)

# Both find the rest from where they are, so the prefix may be chosen when installing.
file(RELATIVE_PATH TREACLE_PC_TO_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
configure_file(packaging/treacle.pc.in treacle.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/treacle.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(TREACLE_CONFIG_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/treacle)
file(RELATIVE_PATH TREACLE_CONFIG_TO_PREFIX /x/${TREACLE_CONFIG_FOLDER} /x)
configure_file(packaging/treacle-config.cmake.in treacle-config.cmake @ONLY)
write_basic_package_version_file(treacle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/treacle-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/treacle-config-version.cmake DESTINATION ${TREACLE_CONFIG_FOLDER})

# Man pages and completions say what the command's help says.
add_custom_command(OUTPUT share/treacle.bash
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/make_man.py
    $<TARGET_FILE:treacle_cli> share
  DEPENDS treacle_cli tools/make_man.py VERBATIM)
add_custom_command(OUTPUT share/treacle-blender.zip
  COMMAND ${CMAKE_COMMAND} -E make_directory share
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/make_addon.py share/treacle-blender.zip
  DEPENDS tools/make_addon.py VERBATIM)
add_custom_target(share ALL DEPENDS share/treacle.bash share/treacle-blender.zip)
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/share/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/share/treacle.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME treacle)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/share/_treacle
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/share/treacle-blender.zip
  DESTINATION ${CMAKE_INSTALL_DATADIR}/treacle)
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/treacle)
install(DIRECTORY python/treacle DESTINATION lib/python3/dist-packages
  FILES_MATCHING PATTERN "*.py")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME treacle)
set(CPACK_PACKAGE_CONTACT "The Treacle authors <treacle@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulates thick liquids: honey, wax, lava, gel")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ffmpeg, python3-numpy, blender")
set(CPACK_STRIP_FILES ON)
include(CPack)
