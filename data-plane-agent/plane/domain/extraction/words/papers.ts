/** Labels of a contract's number, title, type and remarks. */
export const CONTRACT_NO = [
  '合同编号',
  '合同号',
  '合同号码',
  '合同书编号',
  '协议编号',
  '协议号',
  '契约编号',
  'contract no',
  'contract number',
  'contract ref',
  'contract reference',
  'contract id',
  'agreement no',
  'agreement number',
  'agreement ref',
  'lease no',
  'lease number',
  'lease agreement no',
  'sales contract no',
  's/c no',
  'order no',
  'purchase order no',
  'po no',
  'po number',
  '订单编号',
  '订单号',
  'confirmation no',
  'confirmation number',
  'order confirmation no',
  'order confirmation number',
  'sales confirmation no',
  'order number',
  'schedule no',
  'schedule number',
  'lease schedule no',
  'equipment schedule no',
  'hire contract no',
  'hire agreement no',
  'rental agreement no',
  'rental agreement number',
  'tenancy agreement no',
  'lease contract no',
];

export const CONTRACT_NO_LIKELY = ['编号', 'ref no', 'our ref', 'reference no', 'document no', 'our reference'];

export const ARCHIVE_CODE = [
  '档案编号',
  '档案号',
  '归档编号',
  '归档号',
  '存档编号',
  '案卷号',
  'archive code',
  'archive no',
  'archive number',
  'archive ref',
  'file no',
  'file number',
  'filing no',
];

export const PROJECT_NAME = [
  '项目名称',
  '工程名称',
  '项目',
  '工程项目',
  'project name',
  'name of project',
  'project title',
  'project',
];

export const TYPE = ['合同类型', '合同性质', '合同类别', 'contract type', 'type of contract', 'agreement type'];

export const REMARK = ['备注', 'remarks', 'remark'];
