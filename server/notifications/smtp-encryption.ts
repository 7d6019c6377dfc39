import { isLoopback } from '../../data-plane-agent/base/loopback.js';

/**
 * The encryption used for an `SMTP_URL`. `always`: TLS (`smtps:`, or STARTTLS, which the server must offer). `where
 * offered`: TLS if the server offers it, for URLs with `?requireTLS=false`. `on this machine`: a loopback address. A
 * password is never sent unencrypted unless the URL says so.
 */
export function smtpEncryption(url: string): 'always' | 'where offered' | 'on this machine' {
  const { protocol, password, searchParams } = new URL(url);
  if (protocol === 'smtps:') return 'always';
  if (isLoopback(url) && (password === '' || isWaived(searchParams))) return 'on this machine';
  return isWaived(searchParams) ? 'where offered' : 'always';
}

/** Reads the option in the same way as the mail library. */
function isWaived(options: URLSearchParams): boolean {
  const [given, ...more] = options.getAll('requireTLS');
  return given !== undefined && more.length === 0 && (given === 'false' || Number(given) === 0);
}
