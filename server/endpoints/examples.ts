import type { Examples } from '../http/openapi-examples.js';
import account from './account.examples.json' with { type: 'json' };
import aiGateway from './ai-gateway.examples.json' with { type: 'json' };
import analytics from './analytics.examples.json' with { type: 'json' };
import audit from './audit.examples.json' with { type: 'json' };
import calendar from './calendar.examples.json' with { type: 'json' };
import channels from './channels.examples.json' with { type: 'json' };
import collections from './collections.examples.json' with { type: 'json' };
import contractConfiguration from './contract-configuration.examples.json' with { type: 'json' };
import contracts from './contracts.examples.json' with { type: 'json' };
import customFields from './custom-fields.examples.json' with { type: 'json' };
import dataPlanes from './data-planes.examples.json' with { type: 'json' };
import exports from './exports.examples.json' with { type: 'json' };
import extraction from './extraction.examples.json' with { type: 'json' };
import files from './files.examples.json' with { type: 'json' };
import imports from './imports.examples.json' with { type: 'json' };
import invoices from './invoices.examples.json' with { type: 'json' };
import membersAndInvitations from './members-and-invitations.examples.json' with { type: 'json' };
import organisation from './organisation.examples.json' with { type: 'json' };
import paymentPlanAndReceipts from './payment-plan-and-receipts.examples.json' with { type: 'json' };
import registration from './registration.examples.json' with { type: 'json' };
import rolesAndPermissions from './roles-and-permissions.examples.json' with { type: 'json' };
import service from './service.examples.json' with { type: 'json' };
import sessions from './sessions.examples.json' with { type: 'json' };
import signIn from './sign-in.examples.json' with { type: 'json' };
import tasks from './tasks.examples.json' with { type: 'json' };
import views from './views.examples.json' with { type: 'json' };
import workflow from './workflow.examples.json' with { type: 'json' };

/**
 * Examples of the operations, in a file for each tag of the reference. They are recorded: `UPDATE_EXAMPLES=1 npx mocha
 * test/guarantees/examples.test.ts` sends each request to a server with the demo data and writes the answer.
 */
export const EXAMPLES: Examples = {
  ...account,
  ...aiGateway,
  ...analytics,
  ...audit,
  ...calendar,
  ...channels,
  ...collections,
  ...contractConfiguration,
  ...contracts,
  ...customFields,
  ...dataPlanes,
  ...exports,
  ...extraction,
  ...files,
  ...imports,
  ...invoices,
  ...membersAndInvitations,
  ...organisation,
  ...paymentPlanAndReceipts,
  ...registration,
  ...rolesAndPermissions,
  ...service,
  ...sessions,
  ...signIn,
  ...tasks,
  ...views,
  ...workflow,
};
