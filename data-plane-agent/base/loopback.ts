import { isIP } from 'node:net';

/** Whether the host of a URL is this machine, judged without DNS: `localhost`, `*.localhost`, 127.0.0.0/8, ::1. */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    (isIP(hostname) === 4 && hostname.startsWith('127.'))
  );
}
