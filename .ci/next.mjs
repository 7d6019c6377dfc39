// Run in the image of next.Dockerfile: adds a migration that only expands to each database, on tables that every request uses.
import { appendFileSync } from 'node:fs';

const DATABASES = [
  { file: 'server/store/migrations/index.js', list: 'PLATFORM_MIGRATIONS', tables: ['members', 'sessions'] },
  {
    file: 'data-plane-agent/plane/store/migrations/index.js',
    list: 'TENANT_MIGRATIONS',
    tables: ['contracts', 'payment_lines'],
  },
];

for (const { file, list, tables } of DATABASES) {
  const statements = tables.flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN next_release bigint DEFAULT 0 NOT NULL`,
    `CREATE INDEX ${table}_next_release ON ${table} (next_release)`,
  ]);
  appendFileSync(
    `/app/dist/${file}`,
    `
const next = String(Number.parseInt(${list}.at(-1).id, 10) + 1).padStart(4, '0');
${list}.push({ id: next + '-next-release', statements: () => ${JSON.stringify(statements)} });
`,
  );
}
