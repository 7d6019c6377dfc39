/** Labels of the payment method and the payee's account. */
export const PAYMENT_METHOD = [
  '付款方式',
  '支付方式',
  '结算方式',
  '货款支付方式',
  '租金支付方式',
  '付款形式',
  '结算办法',
  '付款方法',
  'method of payment',
  'payment method',
  'mode of payment',
  'form of payment',
  'manner of payment',
  'means of payment',
];

export const PAYMENT_METHOD_LIKELY = [
  '付款条件',
  '付款方式及期限',
  '结算方式及期限',
  '结算方式及时间',
  '结算方式、时间及地点',
  'terms of payment',
  'payment terms',
];

export const PAYMENT_CYCLE = [
  '付款周期',
  '支付周期',
  '结算周期',
  '租金支付周期',
  '租金周期',
  '付租周期',
  '付款频率',
  'payment cycle',
  'payment frequency',
  'rent payment frequency',
  'rental period',
  'billing cycle',
  'payment interval',
  'payment period',
  'frequency of payment',
];

export const PAYEE_ACCOUNT = [
  '收款账号',
  '收款账户',
  '收款人账号',
  '收款银行账号',
  '指定账户',
  'beneficiary account no',
  'beneficiary account number',
  'beneficiary account',
  'beneficiary a/c no',
  'payee account',
  'payee account no',
  'payee account number',
];

export const PAYEE_ACCOUNT_LIKELY = [
  '账号',
  '银行账号',
  '账户号',
  '银行账户',
  '账户',
  '开户账号',
  'account no',
  'account number',
  'a/c no',
  'bank account',
  'bank account no',
  'bank account number',
  'iban',
  'account',
];

export const PAYEE_BANK = [
  '收款银行',
  '收款人开户行',
  '收款开户行',
  '收款人开户银行',
  'beneficiary bank',
  "beneficiary's bank",
  'payee bank',
  'receiving bank',
  'remit to bank',
  'remittance bank',
];

export const PAYEE_BANK_LIKELY = [
  '开户银行',
  '开户行',
  '银行名称',
  '开户银行名称',
  '开户行名称',
  'bank name',
  'name of bank',
  'bank',
  'opening bank',
  'bank details',
  'our bank',
];
