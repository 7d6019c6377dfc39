/** The roles that every organisation has and that cannot be deleted. */
export const OWNER = 'owner';
export const ADMIN = 'admin';
