# Run at each build: writes which commit SOURCE is at into the header FILE, if that has changed. Without a repository, as in the build
# of an image, FLYBALL_COMMIT and FLYBALL_COMMIT_DATE in the environment say it.
set(COMMIT $ENV{FLYBALL_COMMIT})
set(DATE $ENV{FLYBALL_COMMIT_DATE})
execute_process(COMMAND git -C ${SOURCE} log -1 --format=%h --abbrev=12 OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed AND NOT COMMIT)
  set(COMMIT ${found})
  execute_process(COMMAND git -C ${SOURCE} log -1 --format=%cI OUTPUT_VARIABLE DATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD ERROR_QUIET RESULT_VARIABLE changed)
  if(changed)
    string(APPEND COMMIT -dirty)
  endif()
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "#define FLYBALL_COMMIT \"${COMMIT}\"\n#define FLYBALL_COMMIT_DATE \"${DATE}\"\n")
