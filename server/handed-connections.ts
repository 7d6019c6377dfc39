import type { ChildProcess } from 'node:child_process';

/**
 * Closes connections that a worker was given and had not taken when it died. Node.js forgets them, so that their clients
 * would wait for an answer until they give up. They are recognised by the messages of `node:cluster` itself; the test
 * that kills workers (`test/faults/workers.test.ts`) fails if these change.
 */
export function closeUntaken(worker: ChildProcess): void {
  const untaken = new Map<number, Closable>();
  const send = worker.send.bind(worker) as (...given: unknown[]) => boolean; // it is overloaded
  worker.send = (...given: unknown[]): boolean => {
    const [message, handle] = given;
    if (isConnection(message) && isClosable(handle)) untaken.set(message.seq, handle);
    return send(...given);
  };
  worker.on('internalMessage', (message: unknown) => {
    if (isRecord(message) && typeof message['ack'] === 'number') untaken.delete(message['ack']);
  });
  worker.once('exit', () => {
    for (const connection of untaken.values()) connection.close();
    untaken.clear();
  });
}

interface Closable {
  close(): void;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isConnection = (message: unknown): message is { readonly seq: number } =>
  isRecord(message) && message['act'] === 'newconn' && typeof message['seq'] === 'number';
const isClosable = (handle: unknown): handle is Closable => isRecord(handle) && typeof handle['close'] === 'function';
