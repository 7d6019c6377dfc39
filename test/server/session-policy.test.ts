import { expect } from 'chai';
import { mayIssueSession, WAYS, type MfaState, type Verdict } from '../../server/access/session-policy.js';

const MFA: Readonly<Record<string, MfaState>> = {
  'nothing asked, nothing there': { required: false, enrolled: false, passed: false },
  'an authenticator, not shown': { required: false, enrolled: true, passed: false },
  'an authenticator, shown': { required: false, enrolled: true, passed: true },
  'asked by policy, nothing there': { required: true, enrolled: false, passed: false },
  'asked by policy, enrolled just now': { required: true, enrolled: false, passed: true },
  'asked by policy, not shown': { required: true, enrolled: true, passed: false },
  'asked by policy, shown': { required: true, enrolled: true, passed: true },
};

/** For passwords; all other methods issue the session, whatever the state of the second factor. */
const PASSWORD: Readonly<Record<string, Verdict>> = {
  'nothing asked, nothing there': 'yes',
  'an authenticator, not shown': 'factor_needed',
  'an authenticator, shown': 'yes',
  'asked by policy, nothing there': 'enrolment_needed',
  'asked by policy, enrolled just now': 'yes',
  'asked by policy, not shown': 'factor_needed',
  'asked by policy, shown': 'yes',
};

describe('whether a session may be issued', () => {
  for (const way of WAYS) {
    for (const [name, mfa] of Object.entries(MFA)) {
      const expected = way === 'password' ? PASSWORD[name] : 'yes';

      it(`by ${way} with ${name}: ${expected ?? ''}`, () => {
        expect(mayIssueSession({ way, tenant: { status: 'active' }, member: { status: 'active' }, mfa })).to.equal(
          expected,
        );
      });

      it(`by ${way} with ${name}: never to a disabled member or in a suspended tenant`, () => {
        expect(mayIssueSession({ way, tenant: { status: 'active' }, member: { status: 'disabled' }, mfa })).to.equal(
          'no',
        );
        expect(mayIssueSession({ way, tenant: { status: 'suspended' }, member: { status: 'active' }, mfa })).to.equal(
          'no',
        );
      });
    }
  }
});
