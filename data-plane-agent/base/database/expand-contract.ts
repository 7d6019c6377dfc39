import { type Migration, statementsOf } from './migrator.js';

/**
 * The statements of a migration that the previous release could not run beside: they take away or change what it reads,
 * or demand what it does not write. docs/upgrade.md explains the rule. Each with the reason.
 */
export function contractingIn(migration: Migration): readonly { readonly statement: string; readonly why: string }[] {
  const all = [...new Set((['sqlite', 'postgres'] as const).flatMap((dialect) => statementsOf(migration, dialect)))];
  // What a migration has made itself, nobody else uses yet.
  const made = new Set(
    all.flatMap((statement) => /^\s*CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(statement)?.[1] ?? []),
  );
  return all.flatMap((statement) => {
    const table =
      /^\s*(?:ALTER|DROP) TABLE (?:ONLY |IF EXISTS )*(\w+)/i.exec(statement)?.[1] ??
      /^\s*CREATE UNIQUE INDEX (?:IF NOT EXISTS )?\w+ ON (\w+)/i.exec(statement)?.[1];
    if (table !== undefined && made.has(table)) return [];
    if (statement.split(/\W+/).some((word) => word in HARMLESS)) return [];
    const why = RULES.find(({ pattern }) => pattern.test(statement))?.why;
    return why === undefined ? [] : [{ statement, why }];
  });
}

const RULES: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: /^\s*DROP TABLE\b/i, why: 'it removes a table' },
  {
    pattern: /^\s*ALTER TABLE\b[^;]*\bDROP (?:COLUMN )?(?!CONSTRAINT\b|NOT NULL|DEFAULT)\w+/i,
    why: 'it removes a column',
  },
  { pattern: /^\s*ALTER TABLE\b[^;]*\bRENAME\b/i, why: 'it renames a table or a column' },
  {
    pattern: /^\s*ALTER TABLE\b[^;]*\bALTER (?:COLUMN )?\w+ (?:SET DATA )?TYPE\b/i,
    why: 'it changes the type of a column',
  },
  { pattern: /^\s*ALTER TABLE\b[^;]*\bSET NOT NULL\b/i, why: 'it demands a value that was optional' },
  {
    pattern: /^\s*ALTER TABLE\b[^;]*\bADD (?:COLUMN )?(?!.*\bDEFAULT\b)\w+ .*\bNOT NULL\b/is,
    why: 'it adds a column that every insert must fill',
  },
  { pattern: /^\s*ALTER TABLE\b[^;]*\bADD CONSTRAINT\b/i, why: 'it adds a rule that present writes may break' },
  { pattern: /^\s*CREATE UNIQUE INDEX\b/i, why: 'it forbids duplicates that present writes may make' },
];

/** Indexes and constraints that look like faults and are none, each with the reason. */
export const HARMLESS: Readonly<Record<string, string>> = {
  members_one_owner: 'the program has always refused a second owner',
  audit_chained: 'positions are new, and only the release that adds them writes any',
  lifecycle_templates_default: 'the program has always refused a second default',
  contract_grams_tenant_id_contract_id_fkey: 'rows were always written with those they refer to',
  connections_by_join_token: 'the column is new: the previous release leaves it empty',
  connections_by_id: 'ids are random and were always unique',
};
