import { s } from '../../../data-plane-agent/base/schema.js';

export const CalendarStatusAnswer = s.object(
  {
    configured: s.flag('Whether the installation has a calendar provider.'),
    connected: s.flag('Whether payment lines are pushed to a calendar.'),
    provider: s.nullable(s.enum(['google', 'microsoft'], "The installation's calendar provider.")),
    account: s.nullable(
      s.text({ max: 320, about: 'The account whose calendar was connected, as the provider names it.' }),
    ),
    lastSyncAt: s.nullable(s.instant()),
    lastError: s.nullable(
      s.text({
        max: 500,
        about:
          'Why the last push failed or ended early, or why the calendar is no longer connected; `null` if there was no problem.',
      }),
    ),
  },
  { title: 'CalendarStatus' },
);

export const CalendarConsent = s.object(
  { url: s.text({ max: 8_000, about: "The provider's consent page, to be opened in the same browser." }) },
  { title: 'CalendarConsent' },
);

export const CalendarSync = s.object(
  {
    created: s.integer({ min: 0, about: 'Events that were created.' }),
    updated: s.integer({ min: 0, about: 'Events that show something else now.' }),
    removed: s.integer({ min: 0, about: 'Events of lines that are paid or deleted, or whose contract is deleted.' }),
    unchanged: s.integer({ min: 0, about: 'Lines whose event was right already.' }),
    failed: s.integer({ min: 0, about: 'Events that the provider did not accept; they are tried again.' }),
    errors: s.list(
      s.object({
        paymentId: s.nullable(s.id('The payment line; `null` for an error that concerns no single line.')),
        message: s.text({ max: 500 }),
      }),
      20,
      'The first errors of the run.',
    ),
    complete: s.flag(
      'False if the run ended before all lines were looked at, because the time of a request was over or the provider did not accept more: a schedule continues it.',
    ),
  },
  { title: 'CalendarSync' },
);
