#!/bin/sh
# Runs a cosim command; FILE.yaml [OPTION]... is short for run FILE.yaml [OPTION]...
#
# compose.yaml starts this script as root, so that it can switch to the user who owns the results folder on the host; the
# results then belong to that user. If the owner is root, it switches to the image's user, who becomes the owner. Without a
# mounted results folder, root is the user whom `docker run --user` named, and stays.
set -eu
case ${1:-} in
*.yaml | *.yml) set -- run "$@" ;;
esac

if [ "$(id -u)" != 0 ] || ! grep -q ' /results ' /proc/self/mounts; then
    exec cosim "$@"
fi

# With a rootless engine, root in the container is already an ordinary user of the host.
read -r _ host_uid _ </proc/self/uid_map
[ "$host_uid" = 0 ] || exec cosim "$@"

# Of root's earlier runs and sweeps, the image's user needs the folders only, because cosim replaces files.
case $(stat -c %u /results) in
0 | 10001)
    chown --from=0 10001:10001 /results
    find /results -mindepth 2 -name 'result.*json' -printf '%h/..\0%h\0' 2>/dev/null |
        xargs -0r chown --from=0 10001:10001 || true
    ;;
esac
exec setpriv --reuid="$(stat -c %u /results)" --regid="$(stat -c %g /results)" --clear-groups --no-new-privs cosim "$@"
