#!/bin/sh
# test.sh TREE OUT: the tests that build.sh made; they print the Test Anything Protocol.
exec timeout 60 "$2/tests"
