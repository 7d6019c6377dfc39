import pg from 'pg';
import type { Row, Value } from './database.js';
import { translated } from './postgres-loss.js';
import { rowMakerOf, type MakeRow } from './postgres-rows.js';

/** A statement as the server gets it; `name` is that under which connections prepare it. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly Value[];
}

export interface Outcome {
  readonly command: string;
  readonly rows: Row[];
  readonly rowCount: number;
}

/**
 * Why there is no outcome. `failed`: the server refused the statement. `skipped`: it was certainly not run, because an
 * earlier one had failed. `lost`: the connection was lost, so it may have been run. `unread`: it was run, and its rows
 * cannot be read.
 */
export type Without = 'failed' | 'skipped' | 'lost' | 'unread';

/** A statement of a batch, and who gets its outcome: one of the two is called. */
export interface Asked {
  readonly statement: Statement;
  /** Whether rows are to be returned. */
  readonly wantsRows: boolean;
  /** The server is to send its answers up to this one at once, instead of with those of the whole batch. */
  readonly isUrgent?: boolean | undefined;
  done(outcome: Outcome): void;
  failed(error: unknown, why: Without): void;
}

/** Sends the statements in one message; resolves when the server has answered all of them, or one has failed. */
export function sendBatch(client: pg.Client, statements: readonly Asked[]): Promise<void> {
  return new Promise((over) => {
    client.query(new Batch(client, statements, over));
  });
}

/**
 * The extended query protocol of PostgreSQL with a single `Sync` after several statements: the server runs them one
 * after the other, and after an error none of the rest. The driver calls the methods with the server's answers, as it
 * does for its own queries. Its `pipeline` mode would send a `Sync` after each statement: after a failed `BEGIN`, the
 * others would then be run without a transaction.
 */
class Batch implements pg.Submittable {
  /** The statement whose answers come next. */
  private at = 0;
  private makeRow: MakeRow | undefined;
  private rows: Row[] = [];
  private unread: { readonly error: unknown } | undefined;

  constructor(
    private readonly client: pg.Client,
    private readonly statements: readonly Asked[],
    private readonly over: () => void,
  ) {}

  /** When the server confirms that it has prepared a statement, the driver notes it under these two. */
  get name(): string | undefined {
    return this.statements[this.at]?.statement.name;
  }

  get text(): string | undefined {
    return this.statements[this.at]?.statement.text;
  }

  readonly submit = (opened: pg.Connection): void => {
    const connection = opened as unknown as Connection; // its declaration is that of an earlier version
    const prepared = new Set<string>();
    connection.stream.cork(); // all messages leave in one packet
    try {
      for (const { statement, wantsRows, isUrgent } of this.statements) {
        const { name = '', text, values } = statement;
        if (name === '' || !(name in connection.parsedStatements || prepared.has(name)))
          connection.parse({ name, text });
        if (name !== '') prepared.add(name);
        connection.bind({ statement: name, values: values.map((value) => (value === null ? null : String(value))) });
        if (wantsRows && !this.described(statement)) connection.describe({ type: 'P' });
        connection.execute({});
        if (isUrgent) connection.flush();
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
    this.begin();
  };

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.makeRow = rowMakerOf(fields);
    const { name } = this.current().statement;
    if (name !== undefined) descriptionsOn(this.client).set(name, this.makeRow);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (!this.makeRow || this.unread) return;
    try {
      this.rows.push(this.makeRow(fields));
    } catch (error) {
      this.unread = { error };
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const asked = this.current();
    const { rows, unread } = this;
    this.at += 1;
    this.begin();
    if (unread) return asked.failed(unread.error, 'unread');
    const [command = '', ...numbers] = text.split(' ');
    asked.done({ command, rows, rowCount: Number(numbers.at(-1) ?? 0) });
  }

  handleReadyForQuery(): void {
    if (this.at < this.statements.length) this.handleError(new Error('the server left a statement unanswered'));
    else this.over();
  }

  /** An error of the server, or the loss of the connection. */
  handleError(reason: unknown): void {
    const error = translated(this.client, reason);
    const isReported = reason instanceof pg.DatabaseError;
    // The server has ended the connection: whether the statement was run is unknown.
    const isLast = isReported && (reason.severity === 'FATAL' || reason.severity === 'PANIC');
    const unanswered = this.statements.slice(this.at);
    this.at = this.statements.length;
    for (const [i, asked] of unanswered.entries())
      asked.failed(error, !isReported || (isLast && i === 0) ? 'lost' : i === 0 ? 'failed' : 'skipped');
    this.over();
  }

  private begin(): void {
    const next = this.statements[this.at];
    this.makeRow = next?.wantsRows ? this.described(next.statement) : undefined;
    this.rows = [];
    this.unread = undefined;
  }

  /**
   * The columns of a statement that this connection has prepared. They are asked for once: the server refuses to run a
   * prepared statement whose columns have changed.
   */
  private described({ name }: Statement): MakeRow | undefined {
    return name === undefined ? undefined : descriptionsOn(this.client).get(name);
  }

  private current(): Asked {
    const asked = this.statements[this.at];
    if (!asked) throw new Error('the server answered a statement that it was not sent');
    return asked;
  }
}

const descriptions = new WeakMap<pg.Client, Map<string, MakeRow>>();

function descriptionsOn(client: pg.Client): Map<string, MakeRow> {
  const known = descriptions.get(client) ?? new Map<string, MakeRow>();
  descriptions.set(client, known);
  return known;
}

/** The driver's connection, as its own queries use it. */
interface Connection {
  readonly stream: { cork(): void; uncork(): void };
  /** The texts of the statements that the connection has prepared, by name. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(portal: { readonly statement: string; readonly values: readonly (string | null)[] }): void;
  describe(portal: { readonly type: 'P' }): void;
  execute(portal: object): void;
  flush(): void;
  sync(): void;
}
