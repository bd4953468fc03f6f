# `cpack` in a release build makes a .deb: the program and its modules, man page and completion, the systemd unit, an example of rules.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # a package needs the program, not the tests

find_package(Python3 COMPONENTS Interpreter)
set(manual ${CMAKE_BINARY_DIR}/manual)
install(TARGETS flyball RUNTIME)
install(TARGETS flyball_external flyball_front LIBRARY DESTINATION lib/flyball) # where the program looks: ../lib/flyball
install(CODE "
  file(MAKE_DIRECTORY ${manual})
  foreach(what man completion)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/packaging/manual.py ${CMAKE_BINARY_DIR}/flyball \${what}
                    OUTPUT_FILE ${manual}/\${what} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(COMMAND gzip -9 --no-name --force ${manual}/man COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${manual}/man.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME flyball.1.gz)
install(FILES ${manual}/completion DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME flyball)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/systemd/flyball.service DESTINATION lib/systemd/system)
install(FILES ${PROJECT_SOURCE_DIR}/rules/examples/web.yaml DESTINATION /etc/flyball RENAME rules.yaml)
install(DIRECTORY DESTINATION /etc/flyball/objects)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/deb/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "Flyball")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "metrics APIs from Prometheus and scaling for Kubernetes")
set(CPACK_PACKAGE_DESCRIPTION "custom.metrics.k8s.io, external.metrics.k8s.io and metrics.k8s.io
from rule files of prometheus-adapter, and a scaler that decides as the
HorizontalPodAutoscaler does. The service runs without a cluster, on objects
in files.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/packaging/cpack.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, tzdata")
set(debian ${PROJECT_SOURCE_DIR}/packaging/deb)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/conffiles;${debian}/postinst;${debian}/prerm;${debian}/postrm)
include(CPack)
