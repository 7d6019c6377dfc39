/**
 * What commands reach contract data with: most modules of the data plane, and of the links to agents. Imported when a
 * command needs it, so that the others start without it.
 */
export { createLocalDataPlane } from '../data-plane-agent/plane/local/index.js';
export { OPERATIONS } from '../data-plane-agent/plane/operations/index.js';
export { createLinks } from '../server/data-planes/link/links.js';
export { createTenantExports } from '../server/data-planes/archive/export.js';
export { createTenantImports } from '../server/data-planes/archive/import.js';
export { verifyFolder } from '../server/data-planes/archive/verify.js';
export { createDataMoves } from '../server/data-planes/moving/moves.js';
