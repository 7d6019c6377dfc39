/** The companies and people of the demo, all invented. Addresses under `.example` cannot receive mail. */
export const DEMO_TENANT = { slug: 'demo', name: 'Huayue Equipment Group' } as const;

export type SubjectKey = 'china' | 'europe' | 'japan';

export interface DemoSubject {
  readonly key: SubjectKey;
  readonly name: string;
  readonly legalName: string;
  readonly taxNo: string;
  readonly defaultPayeeAccount: string;
  readonly defaultPayeeBank: string;
  /** Prefix of its contract numbers. */
  readonly mark: string;
  readonly currencyCode: string;
  readonly language: 'zh' | 'en' | 'ja';
}

export const DEMO_SUBJECTS = [
  {
    key: 'china',
    name: '华岳机电设备',
    legalName: '华岳机电设备（苏州）有限公司',
    taxNo: '91320594MA7DEM0X14',
    defaultPayeeAccount: '6222 0000 1102 0458 713',
    defaultPayeeBank: '示例银行苏州工业园区支行',
    mark: 'HY',
    currencyCode: 'CNY',
    language: 'zh',
  },
  {
    key: 'europe',
    name: 'Huayue Europe',
    legalName: 'Huayue Equipment Europe B.V.',
    taxNo: 'NL000099998B57',
    defaultPayeeAccount: 'NL91 ABNA 0417 1643 00',
    defaultPayeeBank: 'Example Bank, Rotterdam',
    mark: 'EU',
    currencyCode: 'EUR',
    language: 'en',
  },
  {
    key: 'japan',
    name: '華岳ジャパン',
    legalName: '華岳機械ジャパン株式会社',
    taxNo: 'T0000000012345',
    defaultPayeeAccount: '普通 0012345',
    defaultPayeeBank: '見本銀行 名古屋支店',
    mark: 'JP',
    currencyCode: 'JPY',
    language: 'ja',
  },
] as const satisfies readonly DemoSubject[];

export interface DemoMember {
  readonly key: string;
  readonly name: string;
  readonly email: string;
  readonly roleCode: string;
  /** Companies that the member may see; all unless given. */
  readonly scope?: readonly SubjectKey[];
}

const at = (local: string): string => `${local}@huayue.example`;

export const DEMO_OWNER = {
  key: 'lin',
  name: '林慧',
  email: at('lin.hui'),
  roleCode: 'owner',
} as const satisfies DemoMember;

export const DEMO_MEMBERS: readonly DemoMember[] = [
  DEMO_OWNER,
  { key: 'novak', name: 'Marek Novak', email: at('marek.novak'), roleCode: 'admin' },
  { key: 'chen', name: '陈立', email: at('chen.li'), roleCode: 'manager' },
  {
    key: 'vermeulen',
    name: 'Anna Vermeulen',
    email: at('anna.vermeulen'),
    roleCode: 'manager',
    scope: ['europe', 'japan'],
  },
  { key: 'zhang', name: '张伟', email: at('zhang.wei'), roleCode: 'sales', scope: ['china'] },
  { key: 'devries', name: 'Pieter de Vries', email: at('pieter.devries'), roleCode: 'sales', scope: ['europe'] },
  { key: 'tanaka', name: '田中 葵', email: at('tanaka.aoi'), roleCode: 'sales', scope: ['japan'] },
  { key: 'hoffmann', name: 'Clara Hoffmann', email: at('clara.hoffmann'), roleCode: 'legal' },
  { key: 'liu', name: '刘芳', email: at('liu.fang'), roleCode: 'finance' },
  { key: 'sato', name: '佐藤 由美', email: at('sato.yumi'), roleCode: 'finance', scope: ['japan'] },
  { key: 'okafor', name: 'Grace Okafor', email: at('grace.okafor'), roleCode: 'viewer' },
  { key: 'zhou', name: '周敏', email: at('zhou.min'), roleCode: 'viewer', scope: ['china'] },
];

/** The sellers of a company and their superiors. The first is picked most often. */
export const SELLERS: Readonly<Record<SubjectKey, readonly [Seller, ...Seller[]]>> = {
  china: [
    { owner: 'zhang', superior: 'chen' },
    { owner: 'zhang', superior: 'chen' },
    { owner: 'chen', superior: null },
  ],
  europe: [
    { owner: 'devries', superior: 'vermeulen' },
    { owner: 'devries', superior: 'vermeulen' },
    { owner: 'vermeulen', superior: null },
  ],
  japan: [{ owner: 'tanaka', superior: 'vermeulen' }],
};
export interface Seller {
  readonly owner: string;
  readonly superior: string | null;
}

/** The bookkeeper of each company. */
export const BOOKKEEPERS: Readonly<Record<SubjectKey, string>> = { china: 'liu', europe: 'liu', japan: 'sato' };
