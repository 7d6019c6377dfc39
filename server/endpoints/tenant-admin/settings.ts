import { edit } from '../../access/permissions.js';
import { endpoint } from '../../http/endpoint.js';
import { actorOf } from '../../access/actor.js';
import { BOOTSTRAP_STEPS } from '../../tenants/bootstrap-status.js';
import { BootstrapStatus } from '../../tenants/tenants.schemas.js';
import { Settings, SettingsPatch, type Settings as SettingsInEffect } from '../../access/settings.schemas.js';

const getOrganisationSettings = endpoint('GET /tenant-admin/settings', {
  summary: 'Read the settings of the organisation',
  needs: edit('admin'),
  returns: Settings,
  fails: [],
  run: async ({ principal, services }) => answer(await services.tenants.settings(principal.tenant.id)),
});

const updateOrganisationSettings = endpoint('PATCH /tenant-admin/settings', {
  summary: 'Update settings of the organisation',
  description: 'Omitted fields are unchanged. Returns all settings. They apply from the next request.',
  needs: edit('admin'),
  body: SettingsPatch,
  returns: Settings,
  fails: [],
  run: async ({ body, principal, request, services }) =>
    answer(
      await services.tenants.updateSettings(
        { tenantId: principal.tenant.id, settings: body as Partial<SettingsInEffect> },
        actorOf(principal.user, request),
      ),
    ), // checked against the same schema there
});

const getSetupStatus = endpoint('GET /tenant-admin/bootstrap-status', {
  summary: 'Show which setup steps are done',
  description:
    'The steps are: a subject company, a second member, an enabled notification channel, roles, the lifecycle in the data plane, and customised settings.',
  needs: edit('admin'),
  returns: BootstrapStatus,
  fails: [],
  run: async ({ principal, services }) => {
    const done = await services.tenants.bootstrapSteps(principal.tenant.id);
    return {
      completed: BOOTSTRAP_STEPS.every((key) => done[key]),
      steps: BOOTSTRAP_STEPS.map((key) => ({ key, done: done[key] })),
    };
  },
});

const answer = (settings: SettingsInEffect) => ({ ...settings, supportedLanguages: [...settings.supportedLanguages] });

export const settingsEndpoints = { getOrganisationSettings, updateOrganisationSettings, getSetupStatus };
