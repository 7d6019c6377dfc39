/** The log message of a head, by which `audit verify --expect` recognises the lines. */
export const HEAD_MESSAGE = 'audit head';
