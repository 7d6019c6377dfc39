import { isSimplifiedChinese } from '../templates/index.js';
import { english } from './en.js';
import type { Notice } from './notice.js';
import type { NoticeText, NoticeWording } from './wording.js';
import { simplifiedChinese } from './zh-cn.js';

/** What a notice says, in the available language nearest to the BCP 47 tag. */
export function noticeText(
  notice: Notice,
  language: string,
): { readonly text: NoticeText; readonly language: 'en' | 'zh-CN' } {
  const [wording, tag] = isSimplifiedChinese(language)
    ? ([simplifiedChinese, 'zh-CN'] as const)
    : ([english, 'en'] as const);
  return { text: textIn(wording, notice), language: tag };
}

function textIn(wording: NoticeWording, notice: Notice): NoticeText {
  switch (notice.type) {
    case 'reminder':
      return wording.reminder(notice);
    case 'workflow.moved':
      return wording['workflow.moved'](notice);
    case 'file.infected':
      return wording['file.infected'](notice);
    case 'channel.test':
      return wording['channel.test'](notice);
  }
}
