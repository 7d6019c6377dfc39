import { oneOf, setting, text, url, type Rule } from '../../../data-plane-agent/base/config.js';
import { CALENDAR_PROVIDERS } from './providers.js';

/** The settings of the installation's calendar provider. */
export const CALENDAR_SETTINGS = {
  calendarProvider: setting({
    name: 'CALENDAR_PROVIDER',
    about:
      'Provider of the calendars to which organisations may push due dates; docs/calendar.md says how to register this installation with it.',
    kind: oneOf(...CALENDAR_PROVIDERS),
    default: 'none',
  }),
  calendarClientId: setting({
    name: 'CALENDAR_CLIENT_ID',
    about: 'The id under which this installation is registered with the calendar provider.',
    kind: text({ max: 500 }),
  }),
  calendarClientSecret: setting({
    name: 'CALENDAR_CLIENT_SECRET',
    about: "The calendar provider's secret for this installation.",
    kind: text({ max: 2_000 }),
    secret: true,
  }),
  calendarAuthorizeUrl: setting({
    name: 'CALENDAR_AUTHORIZE_URL',
    about: "URL of the consent page; defaults to the calendar provider's URL.",
    kind: url({ protocols: ['http', 'https'] }),
  }),
  calendarTokenUrl: setting({
    name: 'CALENDAR_TOKEN_URL',
    about: "URL of the token endpoint; defaults to the calendar provider's URL.",
    kind: url({ protocols: ['http', 'https'] }),
  }),
  calendarApiUrl: setting({
    name: 'CALENDAR_API_URL',
    about: "URL of the calendar API; defaults to the calendar provider's URL.",
    kind: url({ protocols: ['http', 'https'] }),
  }),
} as const;

export const CALENDAR_REFUSALS: readonly Rule<typeof CALENDAR_SETTINGS>[] = [
  ({ calendarProvider, calendarClientId, calendarClientSecret }) =>
    calendarProvider === 'none'
      ? []
      : [
          ...(calendarClientId === undefined ? ['CALENDAR_CLIENT_ID'] : []),
          ...(calendarClientSecret === undefined ? ['CALENDAR_CLIENT_SECRET'] : []),
        ].map((name) => ({ name, problem: 'is required with CALENDAR_PROVIDER' })),
  ({ calendarAuthorizeUrl, calendarTokenUrl, calendarApiUrl }, context) =>
    Object.entries({
      CALENDAR_AUTHORIZE_URL: calendarAuthorizeUrl,
      CALENDAR_TOKEN_URL: calendarTokenUrl,
      CALENDAR_API_URL: calendarApiUrl,
    }).flatMap(([name, address]) => {
      if (address === undefined) return [];
      const { protocol, search, hash, username, password } = new URL(address);
      if (`${search}${hash}${username}${password}` !== '')
        return [{ name, problem: 'must not have a query, a fragment, a user name or a password' }];
      return context.production && protocol === 'http:' ? [{ name, problem: 'must be https in production' }] : [];
    }),
];
