import type { Random } from './random.js';

type Words = Readonly<Record<Language, string>>;
type Some<T> = readonly [T, ...T[]];
export type Language = 'zh' | 'en' | 'ja';

export interface Ware {
  readonly name: Words;
  readonly models: Some<string>;
  /** In whole CNY: what one costs, and what it costs for a month. */
  readonly price: number;
  readonly rent: number;
}

/** Machines for sale and lease, with realistic prices. */
export const WARES: Some<Ware> = [
  {
    name: { zh: '光纤激光切割机', en: 'Fibre laser cutting machine', ja: 'ファイバーレーザー切断機' },
    models: ['HL-3015', 'HL-6020'],
    price: 680_000,
    rent: 14_000,
  },
  {
    name: { zh: '数控车床', en: 'CNC lathe', ja: 'CNC旋盤' },
    models: ['CK-6150', 'TC-500'],
    price: 245_000,
    rent: 5_200,
  },
  {
    name: { zh: '立式加工中心', en: 'Vertical machining centre', ja: '立形マシニングセンタ' },
    models: ['VMC-850', 'VMC-1160'],
    price: 418_000,
    rent: 8_800,
  },
  {
    name: { zh: '注塑机', en: 'Injection moulding machine', ja: '射出成形機' },
    models: ['IM-160T', 'IM-320T'],
    price: 356_000,
    rent: 7_400,
  },
  {
    name: { zh: '电动叉车', en: 'Electric forklift', ja: '電動フォークリフト' },
    models: ['EF-20', 'EF-30'],
    price: 128_000,
    rent: 3_600,
  },
  {
    name: { zh: '螺杆空压机', en: 'Screw compressor', ja: 'スクリューコンプレッサ' },
    models: ['SC-22', 'SC-37'],
    price: 86_000,
    rent: 2_300,
  },
  {
    name: { zh: '六轴工业机器人', en: 'Six-axis industrial robot', ja: '6軸産業用ロボット' },
    models: ['R6-10', 'R6-20'],
    price: 198_000,
    rent: 4_900,
  },
  {
    name: { zh: '彩色超声诊断仪', en: 'Ultrasound scanner', ja: '超音波診断装置' },
    models: ['US-60', 'US-80'],
    price: 310_000,
    rent: 7_800,
  },
  {
    name: { zh: '柴油发电机组', en: 'Diesel generator set', ja: 'ディーゼル発電機' },
    models: ['DG-300', 'DG-500'],
    price: 265_000,
    rent: 6_900,
  },
  {
    name: { zh: '高空作业平台', en: 'Boom lift', ja: '高所作業車' },
    models: ['BL-14', 'BL-18'],
    price: 189_000,
    rent: 5_600,
  },
];

/** The customers' industries, as labels of the custom field. */
export const INDUSTRIES = [
  'Machinery',
  'Automotive',
  'Medical',
  'Electronics',
  'Aerospace',
  'Packaging',
  'Logistics',
  'Foundry',
] as const;
export type Industry = (typeof INDUSTRIES)[number];

interface Customers {
  readonly places: Some<string>;
  readonly trades: Some<readonly [name: string, industry: Industry]>;
  name(place: string, trade: string): string;
}

const CUSTOMERS: Readonly<Record<Language, Customers>> = {
  zh: {
    places: ['苏州', '无锡', '常州', '宁波', '东莞', '成都', '武汉', '青岛', '西安', '合肥'],
    trades: [
      ['明川精密机械', 'Machinery'],
      ['恒砺汽车零部件', 'Automotive'],
      ['康禾医疗器械', 'Medical'],
      ['宏溪电子', 'Electronics'],
      ['云翎航空配件', 'Aerospace'],
      ['金穗包装', 'Packaging'],
      ['北辰仓储物流', 'Logistics'],
    ],
    name: (place, trade) => `${place}${trade}有限公司`,
  },
  en: {
    places: ['Noordkade', 'Rheinfels', 'Alpenrand', 'Danubia', 'Balticum', 'Lombarda', 'Jutland Fjord', 'Walden'],
    trades: [
      ['Precision GmbH', 'Machinery'],
      ['Automotive Parts B.V.', 'Automotive'],
      ['Medical AG', 'Medical'],
      ['Electronics S.r.l.', 'Electronics'],
      ['Packaging A/S', 'Packaging'],
      ['Logistics N.V.', 'Logistics'],
      ['Foundry S.A.', 'Foundry'],
    ],
    name: (place, trade) => `${place} ${trade}`,
  },
  ja: {
    places: ['東海', '北陸', '瀬戸内', 'みちのく', '阿蘇', '琵琶湖'],
    trades: [
      ['精密工業', 'Machinery'],
      ['自動車部品', 'Automotive'],
      ['医療機器', 'Medical'],
      ['電子製作所', 'Electronics'],
      ['物流', 'Logistics'],
      ['鋳造', 'Foundry'],
    ],
    name: (place, trade) => `株式会社${place}${trade}`,
  },
};

export interface Customer {
  readonly name: string;
  readonly place: string;
  readonly industry: Industry;
}

export function customerIn(language: Language, random: Random): Customer {
  const { places, trades, name } = CUSTOMERS[language];
  const place = random.pick(places);
  const [trade, industry] = random.pick(trades);
  return { name: name(place, trade), place, industry };
}

/**
 * An amount of whole CNY in another currency, rounded as price lists are. Rates are fixed, so that the demo data never
 * changes.
 */
export function inCurrency(cny: number, currencyCode: string): number {
  if (currencyCode === 'EUR') return Math.max(50, Math.round(cny / 7.8 / 50) * 50);
  if (currencyCode === 'JPY') return Math.max(1_000, Math.round((cny * 20.5) / 1_000) * 1_000);
  return cny;
}
