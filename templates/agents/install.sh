{% autoescape off %}#!/bin/sh
# Installs the agent of {{ server_url }} and starts it; with --systemd as a service.
# BENCHSITE_CODE holds the one-time code; BENCHAGENT_DIR says where everything goes.
set -eu
# Servers run as users of their own, who have to reach what is installed here.
umask 022
server='{{ server_url }}'
name='{{ wheel.name }}'
service=
if [ "${1:-}" = --systemd ]; then service=1; shift; fi
if [ -z "${BENCHSITE_CODE:-}" ]; then echo "BENCHSITE_CODE is not set: take the line from the agents page" >&2; exit 2; fi
if [ "$(id -u)" = 0 ]; then default=/var/lib/benchagent; else default="$HOME/benchagent"; fi
dir="${BENCHAGENT_DIR:-$default}"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed" >&2; exit 2; }

mkdir -p "$dir"
ca=
if [ -n "${BENCHSITE_CA:-}" ]; then ca="$dir/ca.crt"; cp "$BENCHSITE_CA" "$ca"; fi
cd "$dir"
curl -fsS ${ca:+--cacert "$ca"} -o "$name" "$server/agents/install/$name"
echo '{{ wheel.sha256 }}  {{ wheel.name }}' | sha256sum -c - >&2
python3 -m venv venv
venv/bin/python -m pip install --quiet "./$name"
(umask 077; printf '%s\n' "$BENCHSITE_CODE" > code.txt)
unset BENCHSITE_CODE

set -- "$dir/venv/bin/benchagent" run --server "$server" --state "$dir/state" --code-file "$dir/code.txt" ${ca:+--ca "$ca"} "$@"
if [ -z "$service" ]; then exec "$@"; fi
printf '%s\n' "[Unit]" "Description=Benchsite agent" "Wants=network-online.target" "After=network-online.target" "" \
  "[Service]" "ExecStart=$* --on-stop finish" "Restart=always" "RestartSec=10" "KillMode=mixed" \
  "TimeoutStopSec=infinity" "" "[Install]" "WantedBy=multi-user.target" > /etc/systemd/system/benchagent.service
systemctl daemon-reload
systemctl enable --now benchagent.service
echo "benchagent runs as a service: journalctl -u benchagent" >&2
{% endautoescape %}
