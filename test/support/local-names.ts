import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import { program } from './programs.js';

/**
 * Preload for Node.js that resolves subdomains of `localhost` to this machine, as RFC 6761 requires but not every
 * resolver does.
 */
export const WITH_LOCAL_NAMES = `--import=${pathToFileURL(program('test/support/local-names.ts')).href}`;

type Lookup = (
  name: string,
  options: dns.LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, address: string | dns.LookupAddress[], family?: number) => void,
) => void;

if (process.execArgv.includes(`--import=${import.meta.url}`)) {
  const { lookup }: { readonly lookup: Lookup } = dns;
  const ours: Lookup = (name, options, callback) =>
    lookup(name.endsWith('.localhost') ? 'localhost' : name, options, callback);
  Object.assign(dns, { lookup: ours });
  syncBuiltinESMExports();
}
