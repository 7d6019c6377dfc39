/** The path below which all endpoints are. */
export const PREFIX = '/api/v1';
