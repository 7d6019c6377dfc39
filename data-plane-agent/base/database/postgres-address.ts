import { isLoopback } from '../loopback.js';

/**
 * Whether the address is one of a PostgreSQL on another machine that is spoken to without TLS. As the driver reads it:
 * `sslmode` decides; without one TLS is begun only where `ssl` or a certificate is named. A socket, which has no host
 * or a path for one, stays on this machine.
 */
export function isOpenPostgres(url: string): boolean {
  const { protocol, hostname, searchParams } = new URL(url);
  if (!/^postgres(ql)?:$/.test(protocol)) return false;
  return !isHere(searchParams.get('host') ?? hostname) && !isEncrypted(searchParams);
}

function isHere(host: string): boolean {
  if (host === '' || /^(\/|%2f)/i.test(host)) return true;
  const address = `postgres://${/^[^[]*:/.test(host) ? `[${host}]` : host}/`;
  return URL.canParse(address) && isLoopback(address);
}

function isEncrypted(options: URLSearchParams): boolean {
  const given = (name: string): string => options.get(name) ?? '';
  if (given('sslmode') !== '') return given('sslmode') !== 'disable';
  return (
    !['', '0', 'false'].includes(given('ssl')) ||
    ['sslcert', 'sslkey', 'sslrootcert'].some((name) => given(name) !== '')
  );
}
