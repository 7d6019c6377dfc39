import { isIP } from 'node:net';

/** Whether an address (a URL) names this machine, by its form alone: `localhost`, `*.localhost`, 127.0.0.0/8, ::1. */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    (isIP(hostname) === 4 && hostname.startsWith('127.'))
  );
}
