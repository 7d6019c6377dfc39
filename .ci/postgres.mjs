// Runs a PostgreSQL for the checks of images and charts, that of the tests, until SIGTERM: node --import=tsx .ci/postgres.mjs ADDRESS PORT
// Prints the URLs of its databases for clients at ADDRESS, as JSON in one line, once it can be used.
import { createServer, connect } from 'node:net';
import { once } from 'node:events';
import pg from 'pg';
import { startServer } from '../test/support/postgres-server.ts';

const [address, port] = process.argv.slice(2);
if (address === undefined || port === undefined) throw new Error('usage: postgres.mjs ADDRESS PORT');

const ended = new Promise((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve));
const server = await startServer({ durable: false });
try {
  const admin = new URL(server.adminUrl);
  const client = new pg.Client({ connectionString: server.adminUrl });
  await client.connect();
  // As in docker/postgres.sh and docs/backup.md; the password is that of the superuser.
  for (const statement of [
    `CREATE ROLE duebook LOGIN PASSWORD '${admin.password}' NOSUPERUSER NOCREATEDB NOCREATEROLE`,
    'CREATE DATABASE duebook_platform OWNER duebook',
    'CREATE DATABASE duebook_contracts OWNER duebook',
    `CREATE ROLE duebook_backup LOGIN BYPASSRLS PASSWORD '${admin.password}'`,
    'GRANT pg_read_all_data TO duebook_backup',
  ])
    await client.query(statement);
  await client.end();
  // The server itself listens at 127.0.0.1, which containers and pods do not share.
  const relay = createServer((incoming) => {
    const outgoing = connect(Number(admin.port), admin.hostname);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ])
      one.on('error', () => other.destroy()).pipe(other);
  });
  relay.listen(Number(port), address);
  await once(relay, 'listening');
  const urlOf = (user, database) => `postgres://${user}:${admin.password}@${address}:${port}/${database}`;
  console.log(
    JSON.stringify({
      platform: urlOf('duebook', 'duebook_platform'),
      tenant: urlOf('duebook', 'duebook_contracts'),
      backup: urlOf('duebook_backup', 'duebook_contracts'),
    }),
  );
  await ended;
  relay.close();
} finally {
  await server.stop();
}
process.exit(0);
