import { channelEndpoints } from './channels.js';
import { dataPlaneEndpoints } from './data-plane.js';
import { memberEndpoints } from './members.js';
import { roleEndpoints } from './roles.js';
import { settingsEndpoints } from './settings.js';
import { subjectEndpoints } from './subjects.js';

/** Tenant administration (API document 4.7), except invitations. */
export const tenantAdminEndpoints = {
  ...settingsEndpoints,
  ...subjectEndpoints,
  ...memberEndpoints,
  ...roleEndpoints,
  ...channelEndpoints,
  ...dataPlaneEndpoints,
};
