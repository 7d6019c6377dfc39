/** Why the server cannot listen on HOST and PORT, and what to do. */
export interface ListenFault {
  readonly problem: string;
  readonly fix: string;
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
