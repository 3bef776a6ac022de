#!/bin/sh
# PID 1 of the sandbox: prepares the private namespaces, runs one command in them, and ends with its exit code. When
# PID 1 ends, the kernel kills whatever is left and drops every mount. A shell, because `wait` also reaps orphans.
#
# usage: init.sh RUN_DIRECTORY COMMAND...     fd 4: signal names to pass on, one a line; its end means: stop at once
set -eu
run=$1
shift

mount -t tmpfs -o mode=0755 ratchet "$run"
mkdir "$run/tmp" "$run/kube-cache"

# Adding a prefix to lo makes every address in it local, so that each Service can be listened on by itself. The pods'
# range belongs to the process node.
ip link set lo up
ip addr add 10.96.0.1/16 dev lo
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start

# Names resolve as they do in a pod, so that a test can use the URLs that members advertise.
if [ -e /etc/resolv.conf ]; then
  printf 'nameserver 10.96.0.10\nsearch svc.cluster.local cluster.local\noptions ndots:5 timeout:1 attempts:2\n' >"$run/resolv.conf"
  mount --bind "$run/resolv.conf" /etc/resolv.conf
fi

export RATCHET_SANDBOX="$run" TMPDIR="$run/tmp" KUBECACHEDIR="$run/kube-cache"

# By way of 5: to a background command, a shell gives /dev/null as 0. The pipe is not the command's business.
exec 5<&0
"$@" <&5 5<&- 4<&- &
command=$!
(
  unset NODE_CHANNEL_FD
  while read -r signal <&4; do kill -s "$signal" "$command" || :; done
  # Whoever started us is gone, however it went: so is everything in here.
  rm -rf "$RATCHET_SHARED_DIRECTORY"
  kill -s KILL -- -1
) 3<&- 5<&- &
exec 3<&- 4<&- 5<&-

code=0
wait "$command" || code=$?

# Cgroups outlive namespaces. Whoever started us removes them too; this is for when that process was killed.
if [ -n "${RATCHET_CGROUP:-}" ]; then
  kill -s KILL -- -1 2>/dev/null || :
  rm -rf "$RATCHET_SHARED_DIRECTORY"
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    left=$(find /sys/fs/cgroup -maxdepth 2 -type d -name "$RATCHET_CGROUP")
    [ -n "$left" ] || break
    [ "$attempt" = 1 ] || sleep 0.3
    find $left -depth -type d -exec rmdir {} + 2>/dev/null || :
  done
fi
exit "$code"
