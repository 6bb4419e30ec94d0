#!/bin/sh
# FILE.yaml [OPTION]... simulates that scenario, with its results in /results/FILE; anything else is a cosim command.
#
# The simulator never runs as root. compose.yaml starts this script as root, so that it can become the owner of the results
# folder, whoever that is on the host, and what it writes there is theirs. If that is root, it becomes the image's own user.
set -eu
case ${1:-} in
*.yaml | *.yml) set -- run --out "/results/$(basename "${1%.*}")" "$@" ;;
esac

[ "$(id -u)" = 0 ] || exec cosim "$@"

# Under a rootless engine this root is the host's ordinary user already.
read -r _ host_uid _ </proc/self/uid_map
[ "$host_uid" = 0 ] || exec cosim "$@"

[ "$(stat -c %u /results)" != 0 ] || chown 10001:10001 /results
exec setpriv --reuid="$(stat -c %u /results)" --regid="$(stat -c %g /results)" --clear-groups --no-new-privs cosim "$@"
