import { createIo, type Io, type Streams } from './io.js';

/**
 * Runs a command with the streams of the process, and sets its exit code: 1 as well if its output could not be written,
 * as on a full disk. That the reader of the output ends earlier (`| head`) is no error, and the command runs to its end.
 */
export async function runOn(
  process: Streams & { exitCode?: number | string | null | undefined },
  command: (io: Io) => Promise<number>,
): Promise<void> {
  let isLost = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isLost || error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return;
    process.stderr.write(`The output could not be written: ${error.message}\n`);
    isLost = true;
    process.exitCode = 1;
  });
  ignoreLostMessages(process);
  const code = await command(createIo(process));
  process.exitCode = isLost ? code || 1 : code;
}

/** Nobody can be told of a message that could not be written. */
export function ignoreLostMessages({ stderr }: Pick<Streams, 'stderr'>): void {
  stderr.on('error', () => undefined);
}
