/**
 * Whether the text has phrases that try to change the instructions of a model, or to obtain them, in English or Chinese.
 * Texts about such attacks have them too, so this is a hint.
 */
export function isInjectionSuspected(text: string): boolean {
  const words = text.toLowerCase().replaceAll(/\s+/g, ' ');
  return PHRASES.some((phrase) => phrase.test(words));
}

const INSTRUCTIONS =
  '(?:instructions?|prompts?|rules?|directions?|guidelines?|commands?|context|constraints?|restrictions?)';

/** Between the words of a phrase there are at most a few others, so that each expression is linear. */
const PHRASES: readonly RegExp[] = [
  new RegExp(
    `\\b(?:ignore|disregard|forget|override|bypass|neglect|skip)\\b(?: \\w{1,12}){0,4}? (?:previous|prior|above|earlier|preceding|existing|system|your|all|any|initial|original)(?: \\w{1,12}){0,3}? ${INSTRUCTIONS}\\b`,
  ),
  /\b(?:ignore|disregard|forget) (?:all|everything|anything)(?: that)?(?: \w{1,12}){0,3} (?:above|before|previously|so far)\b/,
  /\b(?:reveal|show|print|repeat|output|display|leak|expose|tell me|give me|what (?:is|are)|write out)(?: \w{1,12}){0,3}? (?:system|initial|hidden|original|secret|developer) (?:prompt|instructions?|message|rules?)\b/,
  /\b(?:reveal|repeat|print|output|leak|expose) (?:me )?your (?:prompt|instructions)\b/,
  /\byou are (?:now|no longer) (?:\w{1,12} ){0,4}(?:dan|jailbroken|unrestricted|unfiltered|bound|restricted|an? ai)\b/,
  /\b(?:act|behave|respond|pretend)(?: \w{1,12}){0,4} (?:without|no|ignoring|free of)(?: \w{1,12}){0,2} (?:restrictions?|rules|limitations?|filters?|guidelines|constraints?)\b/,
  /\b(?:do anything now|developer mode|jailbreak(?:ed)?|god mode|dan mode)\b/,
  /\bnew (?:system )?instructions ?:/,
  /<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[\/?inst\]|<<\/?sys>>|<\/?system>|###? ?system ?(?:prompt|message)? ?:/,
  /(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不用理会|不要遵守|不再遵守|跳过|绕过|繞過|覆盖|推翻)[^\s,.;:!?。]{0,12}?(?:指令|指示|提示词|提示詞|提示语|规则|規則|设定|設定|限制|约束|約束|要求|命令)/,
  /(?:忽略|无视|無視|忘记|忘記|忘掉)[^\s,.;:!?。]{0,6}?(?:以上|上面|之前|前面|先前|上述)[^\s,.;:!?。]{0,4}?(?:内容|內容|所有|一切|对话|對話|文字)/,
  /(?:输出|輸出|显示|顯示|告诉我|告訴我|泄露|洩露|透露|打印|列印|复述|重复|重複|展示|给出|说出)[^\s,.;:!?。]{0,10}?(?:系统提示|系統提示|提示词|提示詞|初始指令|系统指令|系統指令|隐藏指令|内部指令|原始指令)/,
  /(?:从现在(?:开始|起)|從現在(?:開始|起)|现在|現在|假装|假裝|扮演)[^\s,.;:!?。]{0,12}?(?:不受|没有|沒有|无|無|不再有)(?:任何|一切)?[^\s,.;:!?。]{0,4}?(?:限制|约束|約束|规则|規則|道德)/,
  /越狱模式|越獄模式|开发者模式|開發者模式|dan ?模式|解除(?:所有|一切|全部)?限制/,
];
