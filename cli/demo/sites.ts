import type { SubjectKey } from './cast.js';

/** The sites of each company's machines. */
export const SITES: Readonly<
  Record<
    SubjectKey,
    {
      readonly access: readonly [string, ...string[]];
      readonly certificates: readonly string[];
      readonly phone: string;
      readonly region: string;
    }
  >
> = {
  china: {
    access: ['货车从北门进，限高 4.2 米。\n卸货须提前一天预约。', '厂区内限速 5 公里，须穿防护鞋。'],
    certificates: ['CCC'],
    phone: '+86 512 5555',
    region: '华东',
  },
  europe: {
    access: [
      'Gate 3, Monday to Thursday before noon.\nCrane on site, 10 t.',
      'Register the driver at the gate one day ahead.',
    ],
    certificates: ['CE'],
    phone: '+31 10 555',
    region: 'Benelux',
  },
  japan: {
    access: ['搬入は平日の午前のみ。\n前面道路は4トン車まで。', '守衛所で入構証を受け取ること。'],
    certificates: ['PSE'],
    phone: '+81 52 555',
    region: '中部',
  },
};
