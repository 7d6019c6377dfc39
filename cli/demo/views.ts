import type { SavedViewInput } from '../../data-plane-agent/plane/contract/records/views.js';
import { DEMO_OWNER } from './cast.js';
import { planeOf, type Desk } from './desk.js';
import type { DemoFields } from './fields.js';

/** Views for the team, one of each mode, and two personal ones. */
const viewsFor = ({
  industry,
  creditLimit,
  deputy,
  handoverAt,
  sitePhone,
}: DemoFields): readonly { readonly by: string; readonly view: SavedViewInput }[] => [
  {
    by: 'novak',
    view: {
      name: 'Money that is late',
      scope: 'team',
      mode: 'table',
      groupBy: 'none',
      filters: { overdue: true },
      sortKey: 'nextDueDate',
      visibleFields: [
        'contractNo',
        'partyA',
        'subjectName',
        'nextDueDate',
        'daysOverdue',
        'overdueAmount',
        'currencyCode',
        creditLimit.id,
        'ownerName',
        deputy.id,
      ],
      cardFields: ['partyA', 'overdueAmount', 'daysOverdue'],
      description: 'The longest overdue first. For Monday mornings.',
    },
  },
  {
    by: 'novak',
    view: {
      name: 'On the way to signature',
      scope: 'team',
      mode: 'board',
      groupBy: 'workflow',
      filters: { status: 'in_progress' },
      sortKey: 'updatedAt',
      visibleFields: [
        'contractNo',
        'projectName',
        'partyA',
        'totalAmount',
        'currencyCode',
        'lifecycleStageName',
        industry.id,
      ],
      cardFields: ['contractNo', 'partyA', 'totalAmount', 'ownerName'],
      description: 'Board of what is running, by stage.',
    },
  },
  {
    by: 'novak',
    view: {
      name: 'Due in the next days',
      scope: 'team',
      mode: 'calendar',
      groupBy: 'payment',
      filters: { dueSoon: true, status: 'in_progress' },
      sortKey: 'nextDueDate',
      visibleFields: ['contractNo', 'partyA', 'nextDueDate', 'outstandingAmount', 'currencyCode'],
      cardFields: ['partyA', 'outstandingAmount'],
    },
  },
  {
    by: 'novak',
    view: {
      name: '交钥匙工程进度',
      scope: 'team',
      mode: 'tasks',
      groupBy: industry.id,
      filters: { typeCode: 'turnkey', workflow: 'active' },
      sortKey: 'startDate',
      visibleFields: [
        'contractNo',
        'projectName',
        'lifecycleStageName',
        'fulfillmentStatus',
        handoverAt.id,
        sitePhone.id,
      ],
      cardFields: ['contractNo', 'fulfillmentStatus', handoverAt.id],
    },
  },
  {
    by: DEMO_OWNER.key,
    view: {
      name: '待签署的合同',
      scope: 'personal',
      mode: 'table',
      groupBy: 'subjectId',
      filters: { workflow: 'approved' },
      sortKey: 'totalAmount',
      visibleFields: ['contractNo', 'projectName', 'partyA', 'totalAmount', 'currencyCode', 'ownerName'],
      cardFields: [],
    },
  },
  {
    by: 'zhang',
    view: {
      name: '我的草稿',
      scope: 'personal',
      mode: 'board',
      groupBy: 'type',
      filters: { workflow: 'draft' },
      sortKey: 'createdAt',
      visibleFields: ['contractNo', 'partyA', 'remark'],
      cardFields: ['contractNo', 'partyA'],
    },
  },
];

/** Saves the demo's views, as far as they are not there. */
export async function saveViews(fields: DemoFields, desk: Desk): Promise<void> {
  for (const { by, view } of viewsFor(fields)) {
    const plane = planeOf(desk, by);
    const present = await plane.listSavedViews({});
    if (!present.some(({ name, scope }) => name === view.name && scope === view.scope))
      await plane.createSavedView(view);
  }
}
