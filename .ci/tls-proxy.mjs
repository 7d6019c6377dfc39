// Terminates TLS in front of a control plane in the checks of the charts, as an ingress does: node tls-proxy.mjs PORT HOST PORT.
// The certificate is in /tls.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer } from 'node:tls';

const [port, host, targetPort] = process.argv.slice(2);
const server = createServer({ cert: readFileSync('/tls/tls.crt'), key: readFileSync('/tls/tls.key') }, (socket) => {
  const target = connect(Number(targetPort), host);
  for (const [one, other] of [
    [socket, target],
    [target, socket],
  ]) {
    one.pipe(other);
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
});
server.listen(Number(port));
process.on('SIGTERM', () => process.exit(0));
