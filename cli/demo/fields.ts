import type { DynamicField, PayloadOf } from '../../data-plane-agent/plane/contract/records/fields.js';
import { BUILT_IN_ROLES } from '../../server/tenants/roles.js';
import { planeOf, type Desk } from './desk.js';
import { INDUSTRIES } from './wares.js';

type Definition = PayloadOf<'CreateField'> & { readonly code: string };

/** The demo's custom fields, of each type one and more, in the order in which they are made and shown. */
export const FIELDS = {
  industry: {
    code: 'industry',
    name: 'Industry',
    type: 'select',
    options: INDUSTRIES.map((label) => ({ label })),
    section: 'Customer',
  },
  deputy: { code: 'deputy', name: 'Deputy', type: 'user', description: 'Who stands in for the owner.' },
  warrantyUntil: { code: 'warranty_until', name: 'Warranty until', type: 'date', section: 'Service' },
  framework: { code: 'framework_agreement', name: 'Framework agreement', type: 'boolean', section: 'Customer' },
  creditLimit: {
    code: 'credit_limit',
    name: 'Credit limit',
    type: 'currency',
    settings: { currencyCode: 'CNY', precision: 0 },
    section: 'Customer',
    visibleRoles: ['owner', 'admin', 'manager', 'finance'],
    editableRoles: ['owner', 'admin', 'manager'],
    description: 'Seen and set by those who answer for it.',
  },
  orderNo: {
    code: 'order_no',
    name: 'PO number',
    type: 'text',
    settings: { maxLength: 40 },
    section: 'Customer',
    typeCodes: ['turnkey'],
    required: true,
  },
  siteAccess: {
    code: 'site_access',
    name: 'Access to the site',
    type: 'long_text',
    section: 'Site',
    description: 'What whoever delivers must know.',
  },
  connectedLoad: {
    code: 'connected_load',
    name: 'Connected load',
    type: 'number',
    settings: { precision: 1, min: 0, unit: 'kW' },
    section: 'Site',
  },
  retention: {
    code: 'retention',
    name: 'Retention',
    type: 'percent',
    settings: { precision: 1, min: 0, max: 20 },
    editableRoles: ['owner', 'admin', 'manager', 'sales'],
    typeCodes: ['turnkey'],
    defaultValue: 5,
  },
  handoverAt: {
    code: 'handover_at',
    name: 'Handover appointment',
    type: 'datetime',
    section: 'Site',
    typeCodes: ['turnkey'],
  },
  certificates: {
    code: 'certificates',
    name: 'Certificates',
    type: 'multi_select',
    options: [
      { label: 'CE', color: '#1d6fb8' },
      { label: 'CCC', color: '#b3261e' },
      { label: 'PSE', color: '#2e7d32' },
      { label: 'GS' },
    ],
    section: 'Service',
  },
  manual: { code: 'manual', name: 'Manual', type: 'url', section: 'Service' },
  invoiceEmail: { code: 'invoice_email', name: 'Invoices to', type: 'email', section: 'Customer' },
  sitePhone: { code: 'site_phone', name: 'Phone on site', type: 'phone' },
  sitePlan: { code: 'site_plan', name: 'Site plan', type: 'file', section: 'Site' },
  leadTime: { code: 'lead_time', name: 'Lead time', type: 'text' },
  region: {
    code: 'sales_region',
    name: 'Sales region',
    type: 'text',
    description: 'Until the companies had books of their own.',
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type FieldKey = keyof typeof FIELDS;
export type DemoFields = Readonly<Record<FieldKey, DynamicField>>;

/** The demo's custom fields, which its administrator makes unless they are there. */
export async function enterFields(desk: Desk): Promise<DemoFields> {
  const plane = planeOf(desk, 'novak');
  const present = await plane.listFields({});
  const roleCodes = BUILT_IN_ROLES.map(({ code }) => code);
  const made: [string, DynamicField][] = [];
  // Sequentially: fields are shown in the order of their creation.
  for (const [key, payload] of Object.entries<Definition>(FIELDS)) {
    made.push([
      key,
      present.find(({ code }) => code === payload.code) ??
        (await plane.runFieldCommand({ type: 'CreateField', payload: { ...payload }, known: { roleCodes } })).field,
    ]);
  }
  return Object.fromEntries(made) as DemoFields; // each key of FIELDS was made
}
