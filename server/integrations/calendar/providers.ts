import { google } from './google.js';
import { microsoft } from './microsoft.js';
import type { CalendarProvider } from './provider.js';

/** All providers. A new one is added here. */
const PROVIDERS = { google, microsoft } as const satisfies Readonly<Record<string, CalendarProvider>>;

export type CalendarProviderId = keyof typeof PROVIDERS;
export const CALENDAR_PROVIDERS = ['none', 'google', 'microsoft'] as const satisfies readonly (
  CalendarProviderId | 'none'
)[];

/** The settings of the installation's calendar provider, as they are read. */
export interface CalendarSettings {
  readonly calendarProvider: (typeof CALENDAR_PROVIDERS)[number];
  readonly calendarClientId: string | undefined;
  readonly calendarClientSecret: string | undefined;
  readonly calendarAuthorizeUrl: string | undefined;
  readonly calendarTokenUrl: string | undefined;
  readonly calendarApiUrl: string | undefined;
}

/** The provider with the client that is registered there, and the addresses in effect. */
export interface ConfiguredProvider {
  readonly provider: CalendarProvider;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly apiUrl: string;
  readonly revokeUrl: string | null;
}

/** `undefined` if no provider is configured. */
export function configuredProvider(settings: CalendarSettings): ConfiguredProvider | undefined {
  const { calendarProvider: id, calendarClientId: clientId, calendarClientSecret: clientSecret } = settings;
  if (id === 'none' || clientId === undefined || clientSecret === undefined) return undefined;
  const provider = PROVIDERS[id];
  const tokenUrl = settings.calendarTokenUrl ?? provider.tokenUrl;
  return {
    provider,
    clientId,
    clientSecret,
    authorizeUrl: settings.calendarAuthorizeUrl ?? provider.authorizeUrl,
    tokenUrl,
    apiUrl: (settings.calendarApiUrl ?? provider.apiUrl).replace(/\/+$/, ''),
    revokeUrl: provider.revokeUrl(tokenUrl),
  };
}
