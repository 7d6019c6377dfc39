import { resolve } from 'node:path';
import { shellWord } from '../data-plane-agent/base/database/postgres-faults.js';
import { shownDatabase } from '../data-plane-agent/base/database/shown.js';
import type { ManagedDatabase } from '../data-plane-agent/base/database/managed.js';
import { DEFAULT_DATA_DIR } from '../data-plane-agent/host/settings.js';
import { BOOTSTRAP_COMMAND, FIRST_OWNER, signInCommand } from './http/home-page.js';

interface FirstStart {
  readonly productName: string;
  /** The URL of the server. */
  readonly address: string;
  readonly dataDir: string;
  readonly databases: readonly ManagedDatabase[];
}

/** What to do after the first start, as text for a terminal. The command must use the databases of this server. */
export const nextSteps = ({ productName, address, dataDir, databases }: FirstStart): string => `
${productName} runs on ${address} and has no organisation yet. What to do next, in another shell in this folder:

  1. Create an organisation with its owner (the password is asked for):
     ${settingOf(dataDir)}${BOOTSTRAP_COMMAND}
     It needs the settings of this server, also the URLs of databases if they are set, and names the databases
     that it used. Those of this server are:
${databases.map(({ name, url }) => `       ${name}: ${shownDatabase(url)}`).join('\n')}
  2. Sign in with that password:
     ${signInCommand(address, FIRST_OWNER)}
  3. Read on: ${address}/docs is the reference of the API, docs/configuration.md lists the settings,
     and "npx duebook doctor" checks the installation.

To try it with realistic data instead, stop this server (Ctrl-C) and run "npm run demo".
`;

/** Set before the command, unless it is what the command finds by itself. */
const settingOf = (dataDir: string): string =>
  resolve(dataDir) === resolve(DEFAULT_DATA_DIR) ? '' : `DATA_DIR=${shellWord(resolve(dataDir))} `;
