import type { SignInChange } from './values.js';
import type { Wording } from './wording.js';

const SIGN_IN_CHANGES: Readonly<Record<SignInChange, string>> = {
  authenticator_added: '已添加身份验证器',
  authenticator_removed: '已移除身份验证器',
  passkey_added: '已添加通行密钥',
  passkey_removed: '已移除通行密钥',
  email_changed: '的邮箱地址已更改',
  password_changed: '的密码已更改',
};

export const simplifiedChinese: Wording = {
  login_code: ({ tenantName, code, minutes }, product) => ({
    subject: `您在${tenantName}的登录验证码`,
    paragraphs: [
      `请使用以下验证码完成登录（${product} · ${tenantName}）。验证码 ${minutes} 分钟内有效，仅可使用一次。`,
    ],
    code,
    caution: '如果您没有在登录，说明有人知道您的密码，请立即修改密码。请勿将验证码告诉任何人。',
  }),
  invitation: ({ tenantName, inviterName, link, days }, product) => ({
    subject: `${inviterName}邀请您加入${tenantName}`,
    paragraphs: [`${inviterName}邀请您加入 ${product} 上的${tenantName}。`, `邀请 ${days} 天内有效，仅可使用一次。`],
    action: { label: '接受邀请', link },
    caution: '如果您不认识发件人，请忽略此邮件。',
  }),
  password_reset: ({ tenantName, link, hours }, product) => ({
    subject: `重置您在${tenantName}的密码`,
    paragraphs: [
      `有人（可能是您本人）申请为您在 ${product} 上的${tenantName}账户设置新密码。`,
      `链接 ${hours} 小时内有效，仅可使用一次。`,
    ],
    action: { label: '设置新密码', link },
    caution: '如果不是您本人操作，请忽略此邮件，您的密码不会改变。',
  }),
  password_changed: ({ tenantName }, product) => ({
    subject: `您在${tenantName}的密码已更改`,
    paragraphs: [`您在 ${product} 上的${tenantName}账户密码已更改，所有会话均已退出。`],
    caution: '如果不是您本人操作，请立即重新设置密码，并通知贵单位的管理员。',
  }),
  sso_linked: ({ tenantName, providerName }, product) => ({
    subject: `${providerName}现已可登录您在${tenantName}的账户`,
    paragraphs: [
      `有人（可能是您本人）首次通过${providerName}登录了您在 ${product} 上的${tenantName}账户。今后通过${providerName}登录无需输入您的密码。`,
    ],
    caution: '如果不是您本人操作，请立即通知贵单位的管理员。',
  }),
  sign_in_changed: ({ tenantName, change }, product) => ({
    subject: `您在${tenantName}的登录方式已更改`,
    paragraphs: [
      `您在 ${product} 上的${tenantName}账户${SIGN_IN_CHANGES[change]}。`,
      '除进行此操作的会话外，该账户的所有会话均已退出。',
    ],
    caution: '如果不是您本人操作，请立即重新设置密码，并通知贵单位的管理员。',
  }),
  admin_changed: ({ tenantName, change }, product) => ({
    subject: change === 'gained' ? `您现在可以管理${tenantName}` : `您已不能再管理${tenantName}`,
    paragraphs: [
      change === 'gained'
        ? `您在 ${product} 上的${tenantName}账户已获得单位管理权限。`
        : `您在 ${product} 上的${tenantName}账户的单位管理权限已被取消。七天内，除您本人和所有者外，任何人都不能更改该账户的邮箱地址。`,
    ],
    caution: '如果您对此不知情，请立即询问贵单位的所有者。',
  }),
  file_infected: ({ tenantName, fileName, contractNo, signature, link }, product) => ({
    subject: `文件 ${fileName} 中发现恶意软件`,
    paragraphs: [
      `扫描程序在上传到 ${product} 上的${tenantName}的文件中发现恶意软件，该文件无法下载。`,
      '请向提供方索取无毒文件，并检查文件来源设备。',
    ],
    facts: [
      { label: '文件', value: fileName },
      ...(contractNo === null ? [] : [{ label: '合同', value: contractNo }]),
      { label: '发现', value: signature },
    ],
    ...(link === null ? {} : { action: { label: '打开合同', link } }),
  }),
  owner_transferred: ({ tenantName, fromName, toName }, product) => ({
    subject: `${tenantName}的所有者已变更`,
    paragraphs: [`${product} 上的${tenantName}的所有者已由${fromName}变更为${toName}。${fromName}现为管理员。`],
    caution: '如果您对此不知情，请询问新的所有者或贵单位的管理员。',
  }),
};
