import type { Migration } from '../../../base/database/migrator.js';
import { contractBook } from './0001-contract-book.js';
import { auditChain } from './0002-audit-chain.js';

/** The steps of the tenant database's schema, oldest first. A step that has landed is never edited. */
export const TENANT_MIGRATIONS: readonly Migration[] = [contractBook, auditChain];
