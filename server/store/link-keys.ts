import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { SigningKeyStore } from './signing-keys.js';

/** The keys of the link to agents, stored in the same way as those that sign tokens. */
export const linkKeyStore = (tx: Transaction): SigningKeyStore => new SigningKeyStore(tx, 'link_keys');
