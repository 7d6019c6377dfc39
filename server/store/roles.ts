import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import type { Control } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { Permissions } from '../access/permissions.js';
import { flagOf, jsonOf, textOf } from './rows.js';

export interface RoleRecord {
  readonly code: string;
  readonly name: string;
  readonly builtIn: boolean;
  readonly permissions: Permissions;
  /** Workflow control levels by stage; a missing stage means `none`. */
  readonly workflowControls: Readonly<Record<string, Control>>;
}

export class RoleStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  /** In the order of creation. */
  async all(): Promise<RoleRecord[]> {
    const rows = await this.tx.all(
      'SELECT code, name, built_in, permissions, workflow_controls FROM roles WHERE tenant_id = ? ORDER BY position, code',
      [this.tenantId],
    );
    return rows.map(roleOf);
  }

  async byCode(code: string): Promise<RoleRecord | undefined> {
    const row = await this.tx.get(
      'SELECT code, name, built_in, permissions, workflow_controls FROM roles WHERE tenant_id = ? AND code = ?',
      [this.tenantId, code],
    );
    return row && roleOf(row);
  }

  async exists(code: string): Promise<boolean> {
    return (
      (await this.tx.get('SELECT 1 AS found FROM roles WHERE tenant_id = ? AND code = ?', [this.tenantId, code])) !==
      undefined
    );
  }

  async setPermissions({
    code,
    permissions,
    at,
  }: {
    code: string;
    permissions: Permissions;
    at: number;
  }): Promise<void> {
    await this.tx.run('UPDATE roles SET permissions = ?, updated_at = ? WHERE tenant_id = ? AND code = ?', [
      JSON.stringify(permissions),
      at,
      this.tenantId,
      code,
    ]);
  }

  async setWorkflowControls({
    code,
    controls,
    at,
  }: {
    code: string;
    controls: RoleRecord['workflowControls'];
    at: number;
  }): Promise<void> {
    await this.tx.run('UPDATE roles SET workflow_controls = ?, updated_at = ? WHERE tenant_id = ? AND code = ?', [
      JSON.stringify(controls),
      at,
      this.tenantId,
      code,
    ]);
  }

  async insert({ role, position, at }: { role: RoleRecord; position: number; at: number }): Promise<void> {
    await this.tx.run(
      'INSERT INTO roles (tenant_id, code, name, built_in, position, permissions, workflow_controls, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [
        this.tenantId,
        role.code,
        role.name,
        role.builtIn ? 1 : 0,
        position,
        JSON.stringify(role.permissions),
        JSON.stringify(role.workflowControls),
        at,
        at,
      ],
    );
  }
}

const roleOf = (row: Row): RoleRecord => ({
  code: textOf(row, 'code'),
  name: textOf(row, 'name'),
  builtIn: flagOf(row, 'built_in'),
  permissions: jsonOf(row, 'permissions'),
  workflowControls: jsonOf(row, 'workflow_controls'),
});
