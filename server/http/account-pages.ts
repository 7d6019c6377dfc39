import { PREFIX } from './prefix.js';
import { documents, escaped, type Page } from '../../data-plane-agent/base/http/pages.js';

/**
 * The target pages of links in mails: two small forms that send the link's token to the API. The token is in the URL
 * fragment, so it reaches neither the server nor a proxy's log, and the script removes it from the URL after reading
 * it.
 */
export function accountPages({ productName }: { productName: string }): readonly Page[] {
  const script = { path: '/account/form.js', type: 'text/javascript; charset=utf-8', body: SCRIPT };
  const style = { path: '/account/form.css', type: 'text/css; charset=utf-8', body: STYLE };
  const forms = [
    { path: '/accept-invitation', body: html({ productName, form: 'accept', fields: NAME + PASSWORD }) },
    { path: '/reset-password', body: html({ productName, form: 'reset', fields: PASSWORD }) },
  ].map((form) => ({ ...form, type: 'text/html; charset=utf-8' }));
  return documents([...forms, script, style], POLICY);
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const NAME =
  '<label><span data-text="name">Your name</span><input name="name" autocomplete="name" required maxlength="80"></label>\n';
const PASSWORD =
  '<label><span data-text="password">New password, at least 8 characters</span><input name="password" type="password" autocomplete="new-password" required minlength="8" maxlength="256"></label>\n';

const html = ({
  productName,
  form,
  fields,
}: {
  productName: string;
  form: 'accept' | 'reset';
  fields: string;
}): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(productName)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/account/form.css">
<script type="module" src="/account/form.js"></script>
</head>
<body>
<main>
<h1>${escaped(productName)}</h1>
<form data-form="${form}">
${fields}<button data-text="${form}">Submit</button>
<p role="status"></p>
</form>
</main>
</body>
</html>
`;

/** Texts in English or Chinese, by the browser's language. */
const SCRIPT = `const WORDS = {
  en: { name: 'Your name', password: 'New password, at least 8 characters', accept: 'Accept the invitation', reset: 'Set the password', done: 'Done. You can sign in now.', broken: 'This link is incomplete. Open the link in the mail.', away: 'The service is not responding. Try again.', TOKEN_INVALID: 'This link has been used or has expired. Request a new one.', PASSWORD_TOO_WEAK: 'This password is too easy to guess. Choose another one.' },
  zh: { name: '您的姓名', password: '新密码，至少 8 个字符', accept: '接受邀请', reset: '设置密码', done: '已完成，现在可以登录。', broken: '链接不完整，请打开邮件中的链接。', away: '服务没有响应，请重试。', TOKEN_INVALID: '链接已使用或已过期，请重新获取。', PASSWORD_TOO_WEAK: '密码太容易被猜到，请换一个。' },
};
const words = navigator.language.toLowerCase().startsWith('zh') ? WORDS.zh : WORDS.en;
const form = document.querySelector('form');
const status = form.querySelector('[role=status]');
for (const element of form.querySelectorAll('[data-text]')) element.textContent = words[element.dataset.text];
const link = new URLSearchParams(location.hash.slice(1));
const [token, tenantSlug] = [link.get('token'), link.get('tenant')];
history.replaceState(null, '', location.pathname);
const end = (text) => { form.replaceChildren(status); status.textContent = text; };
if (!token || !tenantSlug) end(words.broken);
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  button.disabled = true;
  status.textContent = '';
  const path = form.dataset.form === 'accept' ? '/auth/invitations/accept' : '/auth/password-reset/confirm';
  try {
    const answer = await fetch('${PREFIX}' + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token, tenantSlug, ...Object.fromEntries(new FormData(form)) }) });
    const body = await answer.json();
    if (answer.ok) return end(words.done);
    status.textContent = words[body.error?.code] ?? body.error?.message ?? [body.message].flat().join('; ');
  } catch {
    status.textContent = words.away;
  }
  button.disabled = false;
});
`;

const STYLE = `body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #22303c; background: #f4f6f8; }
main { max-width: 24rem; margin: 10vh auto; padding: 2rem; background: #fff; border-radius: 8px; }
label, label span { display: block; } label { margin-bottom: 1rem; }
input, button { box-sizing: border-box; width: 100%; padding: .6rem; font: inherit; border: 1px solid #9aa8b4; border-radius: 4px; }
button { color: #fff; background: #1c6e8c; border: 0; cursor: pointer; } button:disabled { opacity: .5; }
`;
