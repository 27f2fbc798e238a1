#!/bin/sh
# maven.sh ARGUMENT..: Maven with its repository in $HOME, where `prepare` fills it. The JVM would take the home of the
# password file instead.
set -eu
MAVEN_OPTS="-Duser.home=$HOME -Dmaven.repo.local=$HOME/.m2/repository -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
export MAVEN_OPTS
exec mvn --batch-mode --quiet -Dstyle.color=never "$@"
