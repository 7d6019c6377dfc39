/** Why the server cannot listen on HOST and PORT, and what to do. */
export interface ListenFault {
  readonly problem: string;
  readonly fix: string;
}

/** Explains an error of listening; undefined for any other error. */
export function listenFaultOf(
  error: unknown,
  address: { readonly host: string; readonly port: number },
): (ListenFault & { readonly code: string }) | undefined {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return undefined;
  // `bind`: the supervisor of several processes listens for them.
  if (error.syscall !== 'listen' && error.syscall !== 'bind' && error.syscall !== 'getaddrinfo') return undefined;
  const code = String(error.code);
  const fault = listenFault(code, address);
  return fault && { code, ...fault };
}

/** Explains the code of an error when listening; undefined for other codes. */
export function listenFault(
  code: string,
  { host, port }: { readonly host: string; readonly port: number },
): ListenFault | undefined {
  switch (code) {
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return {
        problem: `${host} is no address of this machine (${code})`,
        fix: 'set HOST to 127.0.0.1, to 0.0.0.0 for all addresses, or to one that this machine has',
      };
    case 'EACCES':
      return {
        problem: `this user may not listen on port ${port}`,
        fix: 'set PORT to 1024 or above, and let a proxy listen on the port below',
      };
    case 'EADDRINUSE':
      return { problem: `${host}:${port} is in use`, fix: 'set PORT to another port' };
    default:
      return undefined;
  }
}
