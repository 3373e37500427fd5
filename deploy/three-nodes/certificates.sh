#!/bin/sh
# Create a certificate authority for etcd and a certificate for each machine, in the current folder. Run it once, on one machine:
# sh certificates.sh db1=10.0.0.1 db2=10.0.0.2 db3=10.0.0.3
# Copy ca.crt to each machine, and its own two files as server.crt and server.key. Keep ca.key on another machine.
set -eu
umask 077
curve="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
openssl req -x509 $curve -days 3650 -subj /CN=etcd-of-moss -keyout ca.key -out ca.crt 2>&1
for machine in "$@"; do
  name=${machine%%=*} address=${machine#*=}
  openssl req $curve -subj "/O=moss" -keyout "$name.key" -out "$name.csr" 2>&1
  echo "subjectAltName=IP:$address" > "$name.ext"
  openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile "$name.ext" -out "$name.crt" 2>&1
  rm "$name.csr" "$name.ext"
done
