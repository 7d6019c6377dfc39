import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUIDE, guidePath } from '../../server/http/guide-pages.js';
import { installations } from '../support/cli.js';
import { needsPrograms } from '../support/needs-programs.js';
import { root } from '../support/source.js';
import { differences, stepsOf, walk, type Step } from '../support/tour.js';

/** Another address than that on which the demo is reached. */
const PUBLIC_URL = 'http://localhost:8443';

describe('the guide pages', function () {
  this.timeout(180_000);
  needsPrograms('bash', 'curl');
  const install = installations(after);
  let url: string;
  let folder: string;
  before('start the demo', async () => {
    const installation = await install();
    ({ folder } = installation);
    const running = installation.start(['demo', '--json'], { env: { PORT: '0', PUBLIC_URL } });
    ({ url } = JSON.parse(await running.printed('\n}\n')) as { url: string });
  });

  const wrongIn = (steps: readonly Step[]): string[] => {
    const printed = walk(steps, { cwd: folder, replace: [['http://localhost:8080', url]] });
    return steps.flatMap(({ heading, answer }, i) => {
      const text = printed[i] ?? '';
      if (!answer) return [];
      if ('lines' in answer) return answer.lines.join('\n') === text ? [] : [`${heading}: prints ${text}`];
      return differences(answer.json, JSON.parse(text)).map((difference) => `${heading}: ${difference}`);
    });
  };

  for (const { name, file, title } of GUIDE) {
    it(`${name} is served with working links and without scripts`, async () => {
      const answer = await fetch(url + guidePath(name));
      const text = await answer.text();
      expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8']);
      expect(answer.headers.get('content-security-policy')).to.contain("default-src 'none'").and.not.contain('script');
      expect(text).to.contain(`<title>${title} · Duebook API</title>`).and.not.contain('<script');
      expect(text, 'the address of this service').to.not.contain('localhost:8080');
      expect(text.includes(`base=${PUBLIC_URL}/api/v1`)).to.equal(name !== 'api-conventions');
      for (const [, link = ''] of text.matchAll(/href="(\/[^"#]*)/g))
        expect((await fetch(url + link)).status, link).to.equal(200);
    });

    it(`${name} has only commands whose output is as documented`, () => {
      const markdown = readFileSync(join(root, 'docs', file), 'utf8');
      const steps = [...markdown.matchAll(/^## (.+)$/gm)].flatMap(([, heading = '']) => stepsOf(markdown, heading));
      expect(name === 'api-conventions' || steps.length > 0).to.equal(true);
      expect(wrongIn(steps)).to.deep.equal([]);
      if (name === 'quick-start') expect(wrongIn(steps), 'on the same data again').to.deep.equal([]);
    });
  }

  it('are linked from the reference', async () => {
    const { info, components } = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as {
      info: { description: string };
      components: { securitySchemes: { bearer: { description: string } } };
    };
    for (const { name } of GUIDE) expect(info.description).to.contain(`](${guidePath(name)})`);
    expect(components.securitySchemes.bearer.description).to.contain('POST /auth/login');
  });
});
