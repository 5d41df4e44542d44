#!/bin/sh
# Makes the secrets that compose.yaml mounts, in deploy/secrets. What is there already stays.
#
# The files may be read by all, since Compose mounts them as they are and the users of the containers are others; the
# folder may not.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
chmod 700 secrets
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
put() {
  [ -s "secrets/$1" ] || printf '%s\n' "$2" >"secrets/$1"
  chmod 644 "secrets/$1"
}
put postgres_password "$(random)"
put db_url "postgres://toolhub:$(cat secrets/postgres_password)@postgres:5432/toolhub"
put jwt_secret "$(random)"
put admin_password "$(random)"
echo "Made: deploy/secrets. The password of the first user, admin, is in deploy/secrets/admin_password."
