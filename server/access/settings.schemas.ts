import { partial, s, type Static } from '../../data-plane-agent/base/schema.js';

/** The tenant's settings with their limits. */
export const Settings = s.object(
  {
    defaultLanguage: s.named('language-tag', 'BCP 47.'),
    supportedLanguages: s.list(s.named('language-tag'), 100),
    localeRegion: s.optional(s.named('locale-or-region', 'BCP 47, or only a region, such as `CN`.')),
    timezone: s.named('time-zone', 'IANA.'),
    defaultCurrency: s.currency(),
    displayCurrency: s.currency(),
    currencyDisplayMode: s.enum(['original', 'converted', 'both']),
    calendarSystem: s.named('calendar', 'A CLDR calendar name, such as `gregory`.'),
    measurementSystem: s.enum(['metric', 'imperial', 'us', 'uk']),
    temperatureUnit: s.enum(['celsius', 'fahrenheit', 'kelvin']),
    dateFormat: s.name({ max: 40 }),
    numberFormat: s.name({ max: 40 }),
    /** 0 is Sunday. */
    firstDayOfWeek: s.integer({ max: 6 }),
    /** Days before the due date. */
    reminderLeadDays: s.integer({ max: 90 }),
    /** Hour of the day in the tenant's time zone. */
    reminderHour: s.integer({ max: 23 }),
    /** Days overdue; 0 means no escalation. */
    reminderEscalationDays: s.integer({ max: 90 }),
    ownerScopeEnabled: s.flag(),
  },
  { title: 'TenantSettings' },
);
export type Settings = Omit<Static<typeof Settings>, 'localeRegion'> & { localeRegion: string | null };

export const SettingsPatch = partial(Settings, { title: 'TenantSettingsPatch' });
