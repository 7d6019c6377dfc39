/** What of a tenant database is sealed, for who changes the keys. */
export { TENANT_SEALED_COLUMNS } from '../plane/store/sealed-columns.js';
