#!/bin/sh
# test.sh OUT: the functional test.
exec timeout 60 "$1"/functest
