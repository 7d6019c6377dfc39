import { expect } from 'chai';
import knex from 'knex';
import pg from 'pg';
import { DatabaseError } from '../../data-plane-agent/base/database/errors.js';
import { PostgresTransaction } from '../../data-plane-agent/base/database/postgres-transaction.js';

/** What the driver calls with the answers of the server. */
interface Batch {
  readonly statements: readonly unknown[];
  handleCommandComplete(answer: { readonly text: string }): void;
  handleError(error: unknown): void;
}

/** A connection on which the last statement of a message ends in an error. */
const failingWith = (error: unknown): pg.Client => {
  const query = (batch: Batch): void => {
    setImmediate(() => {
      for (let n = 1; n < batch.statements.length; n++) batch.handleCommandComplete({ text: 'UPDATE 1' });
      batch.handleError(error);
    });
  };
  return { query } as unknown as pg.Client; // nothing else of it is used
};

const reported = (severity: 'ERROR' | 'FATAL' | 'PANIC', code: string): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError('of the server', 1, 'error'), { severity, code });
const ofSocket = (code: string | undefined): Error => Object.assign(new Error('of the socket'), { code });

async function commitOf(error: unknown, { writes }: { readonly writes: boolean }): Promise<unknown> {
  const tx = new PostgresTransaction(failingWith(error), knex({ client: 'pg' }), undefined);
  await tx.begin('BEGIN', { tenant: '', timeoutMs: undefined });
  await (writes ? tx.defer('UPDATE things SET n = 1') : tx.hold('SELECT 1'));
  return tx.commit().then(
    () => 'committed',
    (reason: unknown) => (reason instanceof DatabaseError ? reason.problem : reason),
  );
}

describe('a commit on PostgreSQL whose answer does not come', () => {
  const LOST = {
    'a reset': ofSocket('ECONNRESET'),
    'a host that cannot be reached any more': ofSocket('EHOSTUNREACH'),
    'an error of TLS': ofSocket('ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'),
    'an end without a code': ofSocket(undefined),
    'a server that is shut down': reported('FATAL', '57P01'),
    'a server that fails': reported('PANIC', '58030'),
  };
  for (const [name, error] of Object.entries(LOST)) {
    it(`is in doubt after ${name}`, async () => {
      expect(await commitOf(error, { writes: true })).to.equal('in_doubt');
    });

    it(`is not in doubt after ${name} if nothing was changed`, async () => {
      expect(await commitOf(error, { writes: false })).not.to.equal('in_doubt');
    });
  }

  it('is refused by an error that the connection survives', async () => {
    expect(await commitOf(reported('ERROR', '23514'), { writes: true })).to.equal('check');
  });
});
