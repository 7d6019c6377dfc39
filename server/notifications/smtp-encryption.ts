import { isLoopback } from '../../data-plane-agent/base/loopback.js';

/**
 * How mail leaves by an `SMTP_URL`: always under TLS (`smtps:`, or STARTTLS that a server must offer); under it where
 * the server offers it, since the address says that it need not (`?requireTLS=false`); or to this machine, where nobody
 * listens on the way. A password is never sent in the open but where the address says so.
 */
export function smtpEncryption(url: string): 'always' | 'where offered' | 'on this machine' {
  const { protocol, password, searchParams } = new URL(url);
  if (protocol === 'smtps:') return 'always';
  if (isLoopback(url) && (password === '' || isWaived(searchParams))) return 'on this machine';
  return isWaived(searchParams) ? 'where offered' : 'always';
}

/** As the mail library reads options of an address. */
function isWaived(options: URLSearchParams): boolean {
  const [given, ...more] = options.getAll('requireTLS');
  return given !== undefined && more.length === 0 && (given === 'false' || Number(given) === 0);
}
