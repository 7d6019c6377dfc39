import type { Migration } from '../../../data-plane-agent/base/database/migrator.js';
import { platform } from './0001-platform.js';

/** The platform database's steps, in order. One that has landed is never edited. */
export const PLATFORM_MIGRATIONS: readonly Migration[] = [platform];
