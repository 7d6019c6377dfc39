import { isLoopback } from '../loopback.js';

/**
 * Whether the URL is a PostgreSQL server on another machine without TLS, as the driver interprets it: `sslmode`
 * decides; without it, TLS is used only if `ssl` or a certificate is given. A Unix socket (no host, or a path as the
 * host) is local.
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
