# SPDX-License-Identifier: MIT
# ClickHouse servers for tests, from Debian's package; sourced behind e2e/common.sh. Each is on 127.0.0.1 with free ports of its own, keeps all
# in ./ch$N, and ends with the script. They are the shards of the cluster "penna". Users: default, without a password; ada, with "secret".
#   clickhouse_database=NAME   before: what the cluster is asked for, if not penna
#   clickhouse N         starts N of them: url[1] ... url[N]
#   clickhouse_start I   starts one that was killed again;  clickhouse_kill I   kill -9
#   ask I QUERY [DB]     what server I says, asked by curl
clickhouse_port=()
url=()
clickhouse_pid=()

free_ports() {
  /usr/bin/python3 - "$1" <<'PYTHON'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in held: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in held))
PYTHON
}

clickhouse_configure() { # I SHARDS...: the shards' native ports
  local here=$work/ch$1 port shards=''
  for port in "${@:2}"; do
    shards+="<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>$port</port>
      <default_database>${clickhouse_database:-penna}</default_database></replica></shard>"
  done
  mkdir -p "$here"/{data,tmp,files,schemas}
  cat >"$here/config.xml" <<XML
<yandex>
 <logger><level>warning</level><log>$here/log</log><errorlog>$here/errors</errorlog><size>10M</size><count>1</count></logger>
 <http_port>${clickhouse_port[$1 * 3]}</http_port><tcp_port>${clickhouse_port[$1 * 3 + 1]}</tcp_port>
 <interserver_http_port>${clickhouse_port[$1 * 3 + 2]}</interserver_http_port><listen_host>127.0.0.1</listen_host>
 <path>$here/data/</path><tmp_path>$here/tmp/</tmp_path><user_files_path>$here/files/</user_files_path>
 <format_schema_path>$here/schemas/</format_schema_path><users_config>$here/users.xml</users_config>
 <default_profile>default</default_profile><default_database>default</default_database><timezone>UTC</timezone>
 <mark_cache_size>100000000</mark_cache_size><remote_servers><penna>$shards</penna></remote_servers>
</yandex>
XML
  cat >"$here/users.xml" <<'XML'
<yandex>
 <profiles><default><max_memory_usage>2000000000</max_memory_usage><max_threads>2</max_threads></default></profiles>
 <users>
  <default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
  <ada><password>secret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></ada>
 </users>
 <quotas><default/></quotas>
</yandex>
XML
}

clickhouse_start() {
  clickhouse-server --config-file="$work/ch$1/config.xml" >"$work/ch$1/out" 2>&1 </dev/null &
  clickhouse_pid[$1]=$!
  started+=("$!")
  local i
  for ((i = 0; i < 3000; ++i)); do
    ! curl -s "${url[$1]}/ping" >/dev/null || return 0
    kill -0 "${clickhouse_pid[$1]}" 2>/dev/null || break
    sleep 0.02
  done
  fail "no ClickHouse at ${url[$1]}: $(cat "$work/ch$1/out" "$work/ch$1/errors")"
}

clickhouse_kill() {
  kill -9 "${clickhouse_pid[$1]}"
  wait "${clickhouse_pid[$1]}" 2>/dev/null || true
}

clickhouse() {
  local i shards=()
  need clickhouse-server curl
  read -ra clickhouse_port < <(free_ports $((($1 + 1) * 3)))
  for ((i = 1; i <= $1; ++i)); do
    shards+=("${clickhouse_port[i * 3 + 1]}")
    url[i]=http://127.0.0.1:${clickhouse_port[i * 3]}
  done
  for ((i = 1; i <= $1; ++i)); do
    clickhouse_configure "$i" "${shards[@]}"
    clickhouse_start "$i"
  done
}

ask() { curl -sS "${url[$1]}/?database=${3:-penna}" --data-binary "$2"; }
