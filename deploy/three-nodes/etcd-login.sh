#!/bin/sh
# Enable authentication in etcd. The user root is for people; the user patroni can access only the keys of Patroni. Run it once,
# on one machine, after all three have started. ETCD_ROOT_PASSWORD and ETCD_PATRONI_PASSWORD must be set; patroni.yml contains
# the second one too.
set -eu
: "${ETCD_ROOT_PASSWORD:?set it}" "${ETCD_PATRONI_PASSWORD:?set it}"
export ETCDCTL_ENDPOINTS=https://10.0.0.1:2379 ETCDCTL_CACERT=/etc/etcd/ca.crt
echo "$ETCD_ROOT_PASSWORD" | etcdctl user add root --interactive=false
etcdctl user grant-role root root
echo "$ETCD_PATRONI_PASSWORD" | etcdctl user add patroni --interactive=false
etcdctl role add patroni
etcdctl role grant-permission --prefix=true patroni readwrite /service/
etcdctl user grant-role patroni patroni
etcdctl auth enable
