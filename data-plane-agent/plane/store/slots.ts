import type { Dialect } from '../../base/database/database.js';

/**
 * PostgreSQL makes writers of one row wait for each other's commit, so what every write of a tenant moves is spread over a few rows there;
 * SQLite has one writer anyway.
 */
const SLOTS = 32;

export const slotOf = (dialect: Dialect): number => (dialect === 'sqlite' ? 0 : Math.floor(Math.random() * SLOTS));
