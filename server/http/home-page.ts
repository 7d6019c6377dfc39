import type { HttpContext } from '../../data-plane-agent/base/http/exchange.js';
import { documents, escaped, type Page } from '../../data-plane-agent/base/http/pages.js';
import { PREFIX } from './prefix.js';

export interface HomePageOptions {
  readonly productName: string;
  readonly publicUrl: string;
  readonly publicRegistrationEnabled: boolean;
  /** The account of the sign-in example; by default placeholders. */
  readonly signInAs?: SignInAs | undefined;
  /** Whether there is any organisation. */
  readonly isSetUp: () => Promise<boolean>;
  /** Whether an error of `isSetUp` means that the database is temporarily unavailable. */
  readonly isTransient: (error: unknown) => boolean;
}

export interface SignInAs {
  readonly tenantSlug: string;
  readonly email: string;
}

type State = 'fresh' | 'set_up' | 'away';

/**
 * The page `/`: what the product is, whether it is set up, where the API reference is and what to do next, in English
 * or Chinese by the browser's first language. A web console will replace this page.
 */
export function homePages(options: HomePageOptions): readonly Page[] {
  // Organisations are never deleted, so the database is queried only until there is one.
  let known = false;
  const state = async (): Promise<State> => {
    try {
      known ||= await options.isSetUp();
      return known ? 'set_up' : 'fresh';
    } catch (error) {
      if (options.isTransient(error)) return 'away';
      throw error;
    }
  };
  const answer = async (ctx: HttpContext): Promise<void> => {
    const language = /^\s*zh\b/i.test(ctx.get('Accept-Language')) ? 'zh' : 'en';
    const now = await state();
    ctx.status = now === 'away' ? 503 : 200;
    ctx.set({
      'Content-Security-Policy': POLICY,
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-cache',
      Vary: 'Accept-Language',
    });
    ctx.body = html(options, { language, state: now });
  };
  const style = { path: '/home.css', type: 'text/css; charset=utf-8', body: STYLE };
  return [{ path: '/', answer }, ...documents([style], POLICY)];
}

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TEXTS = {
  en: {
    what: 'keeps the sale and lease contracts of organisations, and what is owed on them. Programs use it through its HTTP API; there is no web console yet.',
    fresh: 'It runs, and has no organisation yet.',
    set_up: 'It runs and is set up.',
    away: 'Its database does not answer at the moment. Try again in a minute; on its machine, “duebook doctor” names the cause.',
    next: 'What to do next',
    bootstrap: 'Create the first organisation and its owner, in the folder of the installation:',
    register: 'Or register one over the API:',
    signIn: 'Sign in, and send the “accessToken” of the answer as a bearer token with each request:',
    doctor: 'Check the installation, on its machine:',
    reference: 'The API reference',
    document: 'as an OpenAPI document',
  },
  zh: {
    what: '管理企业的销售与租赁合同及其应收款。程序通过 HTTP API 使用本服务；目前还没有网页控制台。',
    fresh: '服务正在运行，尚未创建任何企业。',
    set_up: '服务正在运行，并已完成初始化。',
    away: '数据库暂时没有响应，请稍后再试；在服务器上运行 duebook doctor 可查看原因。',
    next: '下一步',
    bootstrap: '在安装目录中创建第一个企业及其所有者：',
    register: '或通过 API 注册：',
    signIn: '登录，并在之后的每个请求中以 Bearer 令牌发送返回的 accessToken：',
    doctor: '在服务器上检查安装：',
    reference: 'API 参考',
    document: 'OpenAPI 文档',
  },
} as const;

function html(
  { productName, publicUrl, publicRegistrationEnabled, signInAs = SOMEONE }: HomePageOptions,
  { language, state }: { language: keyof typeof TEXTS; state: State },
): string {
  const texts = TEXTS[language];
  const api = `${publicUrl}${PREFIX}`;
  const step = (text: string, command: string): string =>
    `<li>${escaped(text)}<pre><code>${escaped(command)}</code></pre></li>`;
  const steps = {
    fresh: [
      step(texts.bootstrap, BOOTSTRAP_COMMAND),
      ...(publicRegistrationEnabled ? [step(texts.register, `POST ${api}/auth/register`)] : []),
      step(texts.doctor, 'npx duebook doctor'),
    ],
    set_up: [step(texts.signIn, signInCommand(publicUrl, signInAs))],
    away: [],
  }[state];
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(productName)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/home.css">
</head>
<body>
<main>
<h1>${escaped(productName)}</h1>
<p>${escaped(productName)} ${escaped(texts.what)}</p>
<p><strong>${escaped(texts[state])}</strong></p>
${steps.length === 0 ? '' : `<h2>${escaped(texts.next)}</h2>\n<ol>\n${steps.join('\n')}\n</ol>\n`}<p><a href="/docs">${escaped(texts.reference)}</a> · <a href="${PREFIX}/openapi.json">${escaped(texts.document)}</a></p>
</main>
</body>
</html>
`;
}

/** Creates the first organisation; also printed at the first start. */
export const BOOTSTRAP_COMMAND =
  'npx duebook bootstrap --tenant-slug acme --tenant-name "Acme Ltd" --email ann@acme.example --name "Ann Lee"';

/** The owner that BOOTSTRAP_COMMAND creates. */
export const FIRST_OWNER: SignInAs = { tenantSlug: 'acme', email: 'ann@acme.example' };
const SOMEONE: SignInAs = { tenantSlug: 'your-organisation', email: 'you@example.com' };

export const signInCommand = (publicUrl: string, { tenantSlug, email }: SignInAs): string =>
  `curl ${publicUrl}${PREFIX}/auth/login -H 'Content-Type: application/json' -d '{ "tenantSlug": "${tenantSlug}", "email": "${email}", "password": "…" }'`;

const STYLE = `:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #22303c; background: #f4f6f8; }
main { max-width: 46rem; margin: 8vh auto; padding: 1rem 2rem; background: #fff; border-radius: 8px; }
pre { padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f6f8; border-radius: 4px; }
a { color: #1c6e8c; }
@media (prefers-color-scheme: dark) { body { color: #dfe7ee; background: #141b21; } main { background: #1e272f; } pre { background: #141b21; } a { color: #7cc4e0; } }
`;
