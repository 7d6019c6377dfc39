import { readFileSync } from 'node:fs';

/**
 * Loaded before a program (`--import`): moves its clock by the number of milliseconds in the file `MOVED_CLOCK`, which
 * is read again twenty times a second.
 */
const file = process.env['MOVED_CLOCK'];
if (file === undefined) throw new Error('MOVED_CLOCK is not set');
const offset = (): number => Number(readFileSync(file, 'utf8')) || 0; // empty while it is written
const real = Date.now.bind(Date);
let moved = offset();
Date.now = () => real() + moved;
setInterval(() => {
  moved = offset() || moved;
}, 50).unref();
