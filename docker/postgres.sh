#!/bin/sh
# Runs once, when the PostgreSQL of compose.yaml makes its data directory: makes the two databases of Duebook, and the role that owns
# them. It is no superuser, so that row-level security applies to it.
# In a subshell: where this file is not executable, the image's entrypoint reads it into its own shell.
(
  set -eu
  psql --username "$POSTGRES_USER" --dbname postgres --no-psqlrc --set ON_ERROR_STOP=1 \
    --set password="$(cat /run/secrets/database_password)" <<'SQL'
CREATE ROLE duebook LOGIN PASSWORD :'password' NOSUPERUSER NOCREATEDB NOCREATEROLE;
CREATE DATABASE duebook_platform OWNER duebook;
CREATE DATABASE duebook_contracts OWNER duebook;
REVOKE CONNECT ON DATABASE duebook_platform, duebook_contracts FROM PUBLIC;
SQL
)
