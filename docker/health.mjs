// The HEALTHCHECK of the images: asks the program in this container whether it is ready. It needs no shell and no other program.
// Exits with 0 when it is, otherwise with 1 and the reason, which `docker inspect` shows.
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';

const TIMEOUT_MS = 4_000; // below the timeout of the HEALTHCHECK, so that the reason is still printed

const { HOST = '', PORT = '', TLS_CERT = '', TLS_CERT_FILE = '' } = process.env;
const host = ['', '0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST;
const hasTls = TLS_CERT !== '' || TLS_CERT_FILE !== '';

const fail = (reason) => {
  process.stderr.write(`not ready: ${reason}\n`);
  process.exit(1);
};

const request = (hasTls ? overHttps : overHttp)(
  // The certificate is for the name that others use, not for this address, and nothing secret is sent.
  { host, port: PORT, path: '/readyz', rejectUnauthorized: false, timeout: TIMEOUT_MS },
  (answer) => {
    answer.resume();
    if (answer.statusCode === 200) process.exit(0);
    fail(`/readyz answered ${answer.statusCode}`);
  },
);
request.on('timeout', () => fail(`no answer within ${TIMEOUT_MS / 1000} s`));
request.on('error', (error) => fail(error.message));
request.end();
