/** The sealed columns of a tenant database, for the rotation of keys. */
export { TENANT_SEALED_COLUMNS } from '../plane/store/sealed-columns.js';
