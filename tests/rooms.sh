#!/usr/bin/env bash
# rooms.sh: every #include "..." below src/ goes to the same room or along an allowed edge
# (docs/design.md). A folder within a room, as
# the CUDA module's, is its own affair: nobody else includes from it. Headers of the platform are
# included in base/os.[ch] alone.
cd "$(dirname "$0")/../src" || exit 2
grep -rn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' . | sed 's|^\./||' | awk -F'[/"]' '
    BEGIN { split("record>backend record>statistics estimator>record estimator>backend " \
                  "estimator>statistics denoiser>backend question>record question>statistics " \
                  "conditions>question conditions>record conditions>statistics bounds>conditions " \
                  "bounds>question bounds>record bounds>statistics solver>statistics " \
                  "bisection>solver bisection>statistics " \
                  "certify>estimator certify>record certify>question certify>conditions " \
                  "certify>bounds certify>solver certify>bisection certify>statistics " \
                  "conformal>estimator conformal>record conformal>statistics " \
                  "attack>estimator attack>record attack>question attack>conditions " \
                  "attack>statistics queue>certify queue>estimator queue>conditions " \
                  "queue>question service>certify service>estimator service>conditions " \
                  "service>backend service>question", edges, " ")
            for (i in edges) allowed[edges[i]] }
    { from = $1; split($0, part, "\""); slashes = split(part[2], to, "/"); seen++
      if (slashes == 3 && index($0, to[1] "/" to[2] "/") == 1) next
      if (slashes == 2 && (to[1] == from || to[1] == "base" || to[1] == "certreg" ||
                           from ">" to[1] in allowed)) next
      print "not ok " $0; bad = 1 }
    END { if (!seen) print "not ok no include was found"
          else if (!bad) print "ok " seen " includes keep to the rooms"
          exit bad || !seen }'
status=$?
platform=$(grep -rnE '<(unistd|dlfcn|pthread|sched|signal|time|sys/[a-z]+)\.h>' . |
    grep -v '^\./base/os\.')
[ -z "$platform" ] && echo "ok the platform is called in base/os.c" && exit "$status"
echo "$platform"
echo "not ok headers of the platform outside base/os.[ch]"
exit 1
