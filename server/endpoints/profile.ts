import { s } from '../../data-plane-agent/base/schema.js';
import { NameProfile, personName } from '../access/person.schemas.js';
import { AuthUserSummary, Preferences, PreferencesPatch } from '../auth/auth.schemas.js';
import { endpoint } from '../http/endpoint.js';

export const profileEndpoints = {
  setPreferences: endpoint('PATCH /auth/preferences', {
    summary: 'Change my preferences',
    description: "What is null falls back to the organisation's setting. Answers the preferences in effect.",
    needs: 'signed_in',
    body: PreferencesPatch,
    returns: Preferences,
    fails: [],
    run: ({ principal, body, request, services }) => services.profile.setPreferences(principal, body, request),
  }),

  setProfile: endpoint('PATCH /auth/profile', {
    summary: 'Change my name',
    description: '`nameProfile` is replaced as a whole; null removes it.',
    needs: 'signed_in',
    body: s.object(
      { name: s.omittable(personName()), nameProfile: s.optional(NameProfile) },
      { title: 'ProfilePatch' },
    ),
    returns: AuthUserSummary,
    fails: [],
    run: ({ principal, body, request, services }) => services.profile.setProfile(principal, body, request),
  }),
};
