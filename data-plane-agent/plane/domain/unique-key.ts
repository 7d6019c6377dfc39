import { fold } from './search.js';

/** Numbers and codes are unique whatever their case. */
export const uniqueKey = (code: string): string => fold(code);
