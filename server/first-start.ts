import { BOOTSTRAP_COMMAND, FIRST_OWNER, signInCommand } from './http/home-page.js';

/** What to do after the first start, as text for a terminal. `address` is the URL of the server. */
export const nextSteps = ({ productName, address }: { productName: string; address: string }): string => `
${productName} runs on ${address} and has no organisation yet. What to do next, in another shell in this folder:

  1. Create an organisation with its owner (the password is asked for):
     ${BOOTSTRAP_COMMAND}
  2. Sign in with that password:
     ${signInCommand(address, FIRST_OWNER)}
  3. Read on: ${address}/docs is the reference of the API, docs/configuration.md lists the settings,
     and "npx duebook doctor" checks the installation.

To try it with realistic data instead, stop this server (Ctrl-C) and run "npm run demo".
`;
