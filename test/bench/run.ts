import { cpus } from 'node:os';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aiGatewayRows } from './ai-gateway.js';
import { stopPostgres } from '../support/postgres.js';
import { datasetFolder, CACHE, type Dataset } from './dataset.js';
import { drawnOf } from './drawn-cases.js';
import { enumerationRows } from './enumeration.js';
import { WrongAnswer } from './load.js';
import { fileRows } from './files.js';
import { linkRows } from './link.js';
import { newRun } from './measured.js';
import { onPostgres } from './on-postgres.js';
import { onSqlite, subjectOf } from './on-sqlite.js';
import { rawTables, withCounts } from './raw-program.js';
import { reminderRows } from './reminders.js';
import { table, type Row } from './report.js';
import { CONTRACTS, isWanted, needsDataset, needsSqlite, SECONDS, SEED } from './settings.js';

await bench();

async function bench(): Promise<void> {
  const undo: (() => Promise<unknown>)[] = [];
  const rows: Row[] = [];
  const run = newRun(rows, undo);
  console.error(`seed ${SEED}`);
  try {
    if (isWanted('ai-gateway')) rows.push(...aiGatewayRows());
    if (isWanted('enumeration')) rows.push(...(await enumerationRows()));
    if (isWanted('files')) rows.push(...(await fileRows()));
    if (isWanted('reminders')) rows.push(...(await reminderRows()));
    if (needsDataset) {
      console.error(`data set of ${CONTRACTS} contracts`);
      const { folder, dataset } = await datasetFolder(CONTRACTS);
      if (isWanted('link')) rows.push(...(await onLink(folder, dataset)));
      if (needsSqlite) await onSqlite(folder, dataset, run);
    }
    if (isWanted('postgres')) await onPostgres(run);
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error;
    console.error(`WRONG ANSWER: ${error.message}`);
    process.exitCode = 1;
  } finally {
    for (const step of undo.toReversed()) await step();
    await stopPostgres();
  }
  await report(rows);
}

async function onLink(folder: string, { bench: tenant }: Dataset): Promise<Row[]> {
  const subject = await subjectOf(folder, tenant);
  const { owner } = await withCounts(await rawTables(folder, subject), (count) => drawnOf(subject, count));
  return linkRows(folder, subject, owner);
}

async function report(rows: readonly Row[]): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const file = join(CACHE, 'bench-result.json');
  const machine = { node: process.version, cores: cpus().length, cpu: cpus()[0]?.model };
  const contracts = needsDataset ? CONTRACTS : 0;
  await writeFile(
    file,
    JSON.stringify(
      { at: new Date().toISOString(), machine, contracts, seconds: SECONDS, seed: SEED, rows },
      undefined,
      2,
    ),
  );
  console.log(
    `${table(rows)}\n\n${needsDataset ? `${CONTRACTS} contracts, ` : ''}seed ${SEED}, ${machine.cores} cores, Node ${machine.node}; as JSON in ${file}`,
  );
}
