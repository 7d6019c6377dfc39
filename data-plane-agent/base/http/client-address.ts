import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The address of the client of a request that does not pass through the application: behind trusted proxies the one that
 * they report, as in the application.
 */
export function clientAddress({ headers, socket }: IncomingMessage, trustProxy: number): string {
  const direct = plain(socket.remoteAddress ?? '');
  const forwarded = headers['x-forwarded-for'];
  if (trustProxy === 0 || forwarded === undefined) return direct;
  const chain = [forwarded].flat().join(',').split(',').slice(-trustProxy);
  const reported = plain((chain[0] ?? '').trim());
  return isIP(reported) === 0 ? direct : reported;
}

const plain = (address: string): string =>
  address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
