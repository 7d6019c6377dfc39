import { expect } from 'chai';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { readServerConfig } from '../../server/config.js';
import { policyOf } from '../../server/integrations/ai-gateway/settings.js';

const read = (env: Readonly<Record<string, string>>) => readServerConfig(env, { secretKeys: generateKeyRingText() });

describe('the settings of the AI gateway', () => {
  it('enforce a policy that allows nothing and masks, unless set', () => {
    const config = read({});
    expect(config.ok && policyOf(config.values)).to.deep.equal({
      mode: 'enforce',
      redactionMode: 'mask',
      allowedProviders: [],
      allowedModels: [],
      allowedTools: [],
    });
  });

  it('are lists of names, of which models may end with *', () => {
    const config = read({
      AI_GATEWAY_MODE: 'monitor',
      AI_GATEWAY_REDACTION_MODE: 'off',
      AI_GATEWAY_ALLOWED_PROVIDERS: ' OpenAI ,, azure ',
      AI_GATEWAY_ALLOWED_MODELS: 'gpt-5*,*',
      AI_GATEWAY_ALLOWED_TOOLS: 'search',
    });
    expect(config.ok && policyOf(config.values)).to.deep.equal({
      mode: 'monitor',
      redactionMode: 'off',
      allowedProviders: ['OpenAI', 'azure'],
      allowedModels: ['gpt-5*', '*'],
      allowedTools: ['search'],
    });
  });

  it('are refused if they have an unknown mode, or * where it would match nothing', () => {
    const config = read({
      AI_GATEWAY_MODE: 'on',
      AI_GATEWAY_REDACTION_MODE: 'hide',
      AI_GATEWAY_ALLOWED_PROVIDERS: '*',
      AI_GATEWAY_ALLOWED_MODELS: '*-mini',
      AI_GATEWAY_ALLOWED_TOOLS: 'search*',
    });
    expect(config.ok ? [] : config.faults.map(({ name, problem }) => `${name} ${problem}`)).to.deep.equal([
      'AI_GATEWAY_MODE must be one of off, monitor, enforce, not "on"',
      'AI_GATEWAY_ALLOWED_PROVIDERS must not have *: name each one',
      'AI_GATEWAY_ALLOWED_MODELS may have * only at the end of a name',
      'AI_GATEWAY_REDACTION_MODE must be one of mask, block, off, not "hide"',
      'AI_GATEWAY_ALLOWED_TOOLS must not have *: name each one',
    ]);
  });
});
