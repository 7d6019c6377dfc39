import { fold } from './search.js';

/** The key under which a number or code must be unique, regardless of case. */
export const uniqueKey = (code: string): string => fold(code);
