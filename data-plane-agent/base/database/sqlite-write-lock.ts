import { setTimeout as sleep } from 'node:timers/promises';
import type { Database as Connection } from 'better-sqlite3';
import { isDatabaseError, translateError } from './errors.js';

/** How long a write waits for other processes to release the file: as long as a client waits for its answer. */
const GIVE_UP_MS = 30_000;
/** How long a start waits for another process, such as the CLI, to release the file. */
const BUSY_MS = 10_000;
/** SQLite has no queue for its lock: those who wait ask again after at most this time, in milliseconds. */
const ASK_AGAIN_MS = 4;
/** Others that wrote within this time may be waiting. */
const RECENT_MS = 250;
/** So long others wait for one process, in milliseconds; shorter turns would cost more commits. */
const TURN_MS = 20;

/**
 * The right to write to a file, which one process at a time has. Beside one that writes all the time others would have to
 * be lucky: between two of its transactions the file is free for microseconds. So a process that notices others leaves it
 * free after each turn for longer than they take to ask again, and its own writes meanwhile gather for the next commit.
 */
export class WriteLock {
  private version: number | undefined;
  private othersAt = -Infinity;
  private freeUntil = 0;
  private turnSince = 0;

  constructor(
    private readonly writer: Connection,
    /** Whether something else decides who writes next. */
    private readonly isArranged: boolean,
  ) {}

  /**
   * Begins a transaction. `IMMEDIATE`, because a deferred transaction that reads first fails at its first write if
   * another process has written meanwhile. Throws SQLite's error if the file does not become free.
   */
  async begin(): Promise<void> {
    const leaveFree = this.freeUntil - performance.now();
    if (leaveFree > 0 && !this.isArranged) await sleep(leaveFree);
    let isNewTurn = leaveFree > 0;
    const giveUpAt = performance.now() + GIVE_UP_MS;
    for (;;) {
      try {
        this.writer.exec('BEGIN IMMEDIATE');
        break;
      } catch (error) {
        if (!isDatabaseError(translateError(error), 'busy') || performance.now() > giveUpAt) throw error;
        this.othersAt = performance.now();
        isNewTurn = true;
        // Not in step with others that wait.
        await sleep(1 + Math.random() * (ASK_AGAIN_MS - 1));
      }
    }
    // Differs if another connection has committed since the last transaction.
    const version = Number(this.writer.pragma('data_version', { simple: true }));
    const now = performance.now();
    if (this.version !== undefined && version !== this.version) {
      this.othersAt = now;
      isNewTurn = true;
    }
    if (isNewTurn) this.turnSince = now;
    this.version = version;
  }

  /** The transaction has ended. */
  ended(): void {
    const now = performance.now();
    const isOver = now - this.turnSince > TURN_MS && now - this.othersAt < RECENT_MS;
    this.freeUntil = isOver ? now + ASK_AGAIN_MS + 2 * Math.random() : 0;
  }

  /** What was committed until now was not by other processes. */
  forgetOthers(): void {
    this.version = undefined;
  }
}

/** Retries while another process holds the file. Switching a new file to WAL locks all of it. */
export async function whenFree(work: () => void): Promise<void> {
  const giveUpAt = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isDatabaseError(translateError(error), 'busy') || performance.now() > giveUpAt) throw error;
      await sleep(10);
    }
  }
}
