import { isLoopback } from '../data-plane-agent/base/loopback.js';

interface Listening {
  readonly publicUrl: string;
  readonly host: string;
  /** The port that the server listens on. */
  readonly port: number;
}

/**
 * Whether PUBLIC_URL names this machine with another port than the server listens on, so that it does not open: a proxy
 * on this machine would have https, or a name of its own.
 */
export function namesOtherPort({ publicUrl, port }: Pick<Listening, 'publicUrl' | 'port'>): boolean {
  const { protocol, port: written } = new URL(publicUrl);
  const reached = written === '' ? 80 : Number(written);
  return protocol === 'http:' && isLoopback(publicUrl) && port !== 0 && reached !== port;
}

/** The problem with such a PUBLIC_URL, and what to do; for the log and for `duebook doctor`. */
export const otherPort = ({
  publicUrl,
  port,
}: Pick<Listening, 'publicUrl' | 'port'>): { readonly problem: string; readonly fix: string } => ({
  problem: `${publicUrl}: the server listens on port ${port}`,
  fix: `set PUBLIC_URL to http://localhost:${port}, or leave it out`,
});

/** The address to print for opening the service on this machine: PUBLIC_URL, unless its port is another one. */
export function openAddress({ publicUrl, host, port }: Listening): string {
  if (!namesOtherPort({ publicUrl, port })) return publicUrl;
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
