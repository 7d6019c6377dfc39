/** What a label announces. `stop` announces something that a contract has no field for; it only ends what stands before it. */
export type Announced =
  | 'contractNo' | 'archiveCode' | 'projectName' | 'type' | 'equipmentName' | 'equipmentModel' | 'quantity' | 'unitPrice' | 'totalAmount' | 'totalRent' | 'currencyCode' | 'paymentMethod' | 'paymentCycle'
  | 'payeeAccount' | 'payeeBank' | 'deposit' | 'periodicRent' | 'signDate' | 'startDate' | 'endDate' | 'term' | 'invoicePoints' | 'remark'
  | 'party:A' | 'party:B' | 'party:giver' | 'party:taker' | 'party:owner' | 'name'
  | 'line:no' | 'line:due' | 'line:amount' | 'line:share' | 'stop';

/**
 * The words with which contracts announce their fields, from common forms: sales contracts for industrial goods, purchase, equipment lease and
 * finance lease contracts in Chinese and in English. Words are parted by `|`; the weight says how surely the word means the field.
 * Written as `plain` has them: small letters, simplified characters, no blanks between Chinese characters.
 */
export const LABELS: readonly (readonly [announced: Announced, weight: number, words: string])[] = [
  ['contractNo', 1, '合同编号|合同号|合同号码|合同书编号|协议编号|协议号|契约编号|contract no|contract number|contract ref|contract reference|contract id|agreement no|agreement number|agreement ref|lease no|lease number|lease agreement no|sales contract no|s/c no|order no|purchase order no|po no|po number|订单编号|订单号|confirmation no|confirmation number|order confirmation no|order confirmation number|sales confirmation no|order number|schedule no|schedule number|lease schedule no|equipment schedule no|hire contract no|hire agreement no|rental agreement no|rental agreement number|tenancy agreement no|lease contract no'],
  ['contractNo', 0.8, '编号|ref no|our ref|reference no|document no|our reference'],
  ['archiveCode', 1, '档案编号|档案号|归档编号|归档号|存档编号|案卷号|archive code|archive no|archive number|archive ref|file no|file number|filing no'],
  ['projectName', 1, '项目名称|工程名称|项目|工程项目|project name|name of project|project title|project'],
  ['type', 1, '合同类型|合同性质|合同类别|contract type|type of contract|agreement type'],
  ['equipmentName', 1, '设备名称|租赁物名称|租赁物件名称|租赁设备名称|租赁财产名称|货物名称|产品名称|商品名称|标的物名称|标的名称|标的物|租赁物件|租赁物|租赁设备|机械名称|品名|equipment name|name of equipment|leased equipment|name of goods|name of commodity|description of goods|description of equipment|equipment description|product name|name of product|goods|product|equipment|commodity|leased property|leased asset|equipment or machine|description of the goods|description of the equipment|物品名称|产品的名称|货物的名称|设备的名称|租赁设备名称|采购标的|货物名称及数量|设备名称及数量|产品名称及数量|标的物及数量|标的及数量|采购标的及数量|租赁物名称及数量'],
  ['equipmentName', 0.75, '名称及规格|设备|货物|产品|标的|名称|description|item description|premises|the premises|demised premises|leased premises|property|the property|property address|租赁房屋|房屋坐落|房屋地址|房屋位置|租赁房屋地址|坐落|plant'],
  ['equipmentName', 0.5, 'item'],
  ['equipmentModel', 1, '规格型号|型号规格|设备型号|规格及型号|型号及规格|型号|规格/型号|型号/规格|牌号商标|品牌型号|model|model no|model number|model/specification|specification/model|type/model|make and model|make/model|equipment model|规格型号及数量|型号及数量|规格、型号及数量|规格型号、数量|model and quantity|model name'],
  ['equipmentModel', 0.85, '规格|specification|specifications|spec'],
  ['equipmentModel', 0.5, 'type'],
  ['quantity', 1, '数量|设备数量|租赁数量|台数|套数|购买数量|quantity|qty|number of units|no of units|units|quantity of the goods|quantity of goods|total quantity|产品的数量|货物的数量|number of machines|number of vehicles|number of sets|no of machines'],
  ['unitPrice', 1, '单价|含税单价|设备单价|产品单价|单台价格|单台价|unit price|price per unit|unit rate|price each|产品的单价|货物的单价'],
  ['totalAmount', 1, '合同总价|合同总价款|合同总金额|合同金额|合同总额|合同价款|合同价格|合同价|合同总值|总价款|设备总价|设备总价款|货款总额|货款总计|总货款|价款总额|合计人民币金额|人民币合计金额|含税总价|含税总金额|价税合计|租赁总金额|total contract price|total contract value|total contract amount|contract price|contract value|contract amount|contract sum|total purchase price|purchase price|total price|total value|total amount|grand total|total sum|total consideration'],
  ['totalRent', 1, '租金总额|总租金|租金合计|租金总计|租金总金额|total rent|total rental|total rentals|total lease payments|total rent payable|aggregate rent|total lease amount|total rentals payable|total rental payable'],
  ['totalAmount', 0.85, '总价|总金额|总额|总计|合计|合计金额|金额合计|total|amount|金额|price'],
  ['currencyCode', 1, '币种|货币|结算币种|计价货币|合同币种|currency|contract currency|currency of payment'],
  ['paymentMethod', 1, '付款方式|支付方式|结算方式|货款支付方式|租金支付方式|付款形式|结算办法|付款方法|method of payment|payment method|mode of payment|form of payment|manner of payment|means of payment'],
  ['paymentMethod', 0.85, '付款条件|付款方式及期限|结算方式及期限|结算方式及时间|结算方式、时间及地点|terms of payment|payment terms'],
  ['paymentCycle', 1, '付款周期|支付周期|结算周期|租金支付周期|租金周期|付租周期|付款频率|payment cycle|payment frequency|rent payment frequency|rental period|billing cycle|payment interval|payment period|frequency of payment'],
  ['payeeAccount', 1, '收款账号|收款账户|收款人账号|收款银行账号|指定账户|beneficiary account no|beneficiary account number|beneficiary account|beneficiary a/c no|payee account|payee account no|payee account number'],
  ['payeeAccount', 0.9, '账号|银行账号|账户号|银行账户|账户|开户账号|account no|account number|a/c no|bank account|bank account no|bank account number|iban|account'],
  ['payeeBank', 1, '收款银行|收款人开户行|收款开户行|收款人开户银行|beneficiary bank|beneficiary\'s bank|payee bank|receiving bank|remit to bank|remittance bank'],
  ['payeeBank', 0.9, '开户银行|开户行|银行名称|开户银行名称|开户行名称|bank name|name of bank|bank|opening bank|bank details|our bank'],
  ['deposit', 1, '保证金|租赁保证金|履约保证金|押金|租赁押金|保证金金额|押金金额|设备押金|security deposit|deposit|lease deposit|refundable deposit|deposit amount|performance deposit|履约保证金金额|押金数额|保证金数额|租赁保证金金额|租赁押金金额|rent deposit'],
  ['periodicRent', 1, '月租金|每月租金|合计月租金|合计每月租金|月租金共计|每月租金合计|季租金|每季租金|年租金|每年租金|每期租金|租金标准|月租|租金金额|租金单价|monthly rent|monthly rental|rent per month|quarterly rent|quarterly rental|annual rent|periodic rent|rent per period|rent amount|monthly lease payment|monthly payment|rental per month|base rent|rent per quarter|total monthly rent|月租金总额|每月租金总额|季租金总额|年租金总额|月租金合计|basic rent|monthly basic rent|hire charge|hire charges|hire rate|rental rate|rental charge|weekly rent|weekly rental|weekly rate|weekly hire charge|weekly hire rate'],
  ['periodicRent', 0.85, '租金|rent|rental|lease payment'],
  ['signDate', 1, '签订日期|签署日期|签约日期|签订时间|签署时间|签约时间|合同签订日期|合同签订时间|合同签署日期|订立日期|签字日期|date of signing|signing date|date of signature|signature date|date of contract|contract date|date of agreement|agreement date|execution date|date of execution|signed on|signed date|date signed|confirmation date|date of confirmation|order confirmation date|purchase order date|po date'],
  ['signDate', 0.75, '日期|date|dated'],
  ['startDate', 1, '起租日|起租日期|起始日期|起始日|开始日期|开始日|租赁起始日|租赁起始日期|租赁开始日|租期起始日|合同起始日期|合同开始日期|合同起始日|起租时间|commencement date|lease commencement date|start date|lease start date|date of commencement|rent commencement date|contract start date|term start date|hire commences|hire start|hire start date|start of hire|rental start|rental start date'],
  ['startDate', 0.85, '生效日期|合同生效日期|合同生效日|生效日|effective date|contract effective date'],
  ['endDate', 1, '终止日期|终止日|结束日期|到期日|到期日期|届满日|届满日期|租赁期限届满日|租赁期限届满日期|租赁期届满日|租赁期限终止日|租赁到期日|租赁终止日|租赁届满日|租赁结束日期|租期届满日|合同终止日期|合同到期日|合同结束日期|合同届满日|截止日期|失效日期|expiry date|expiration date|date of expiry|end date|termination date|lease end date|lease expiry date|lease expiration date|contract end date|contract expiry date|term end date|completion date|完成日期|竣工日期|hire ends|hire end|hire end date|end of hire|rental end|rental end date'],
  ['term', 1, '租赁期限|租赁期间|租赁期|租期|合同期限|合同有效期|合同有效期限|有效期|有效期限|履行期限|合同履行期限|服务期限|使用期限|lease term|term of lease|term of the lease|lease period|rental term|contract term|contract period|term of contract|term of agreement|term of this agreement|term|validity|validity period|period of validity|initial term|period of performance|length of lease|lease length|length of term|lease duration|duration of lease'],
  ['invoicePoints', 1, '税率|增值税税率|增值税率|发票税率|开票税率|适用税率|vat rate|tax rate|vat|gst rate|sales tax rate'],
  ['remark', 1, '备注|remarks|remark'],
  ['party:A', 1, '甲方|甲方名称|甲方单位|甲方全称|party a|name of party a|the party a'],
  ['party:B', 1, '乙方|乙方名称|乙方单位|乙方全称|party b|name of party b|the party b'],
  ['party:giver', 1, '出卖人|出卖方|卖方|供方|供货方|供货单位|供应商|供应方|销售方|销货方|售方|出租人|出租方|出租单位|卖方名称|供方名称|出租方名称|出租人名称|出卖人名称|seller|sellers|vendor|supplier|lessor|the seller|the sellers|the lessor|the supplier|the vendor|name of seller|name of lessor|seller\'s name|lessor\'s name|landlord|承包人|承包方|供货人|contractor|the contractor'],
  ['party:taker', 1, '买受人|买受方|买方|需方|购货方|购货单位|采购方|采购单位|购买方|购方|承租人|承租方|承租单位|买方名称|需方名称|承租方名称|承租人名称|买受人名称|buyer|buyers|purchaser|lessee|customer|the buyer|the buyers|the lessee|the purchaser|the customer|renter|hirer|name of buyer|name of lessee|buyer\'s name|lessee\'s name|tenant|采购人|发包人|发包方|employer|the employer|sold to|bill to'],
  ['party:owner', 1, 'owner|the owner'],
  ['name', 1, '公司名称|单位名称|企业名称|单位全称|全称|company name|full name|legal name|name|company'],
  ['line:no', 1, '期数|期次|期号|期别|付款期数|租金期数|批次|付款阶段|阶段|款项|付款节点|节点|期|instalment|installment|instalment no|installment no|period|milestone|stage|payment|payment no|payment milestone|付款里程碑|里程碑|milestone event|payment event|payment stage|milestone description|description of milestone'],
  ['line:no', 0.7, '序号|no|#|pos|pos no|line no|item no'],
  ['line:due', 1, '应付日期|应付租金日|应付日|付款日期|付款日|支付日期|支付日|支付时间|付款时间|应付时间|租金支付日|付租日|还款日|还款日期|到期付款日|due date|due on|payment date|date due|due|payable on|date of payment|scheduled payment date|planned payment date|expected payment date|payment due date|计划付款日期|预计付款日期|计划付款时间|预计付款时间'],
  ['line:amount', 1, '应付金额|付款金额|支付金额|应付租金|每期应付租金|应付款|应付款项|amount due|instalment amount|installment amount|payment amount|amount payable|rent due|rent payable'],
  ['line:share', 1, '比例|付款比例|支付比例|占比|百分比|percentage|percent|share|%'],
  ['stop', 1, '地址|住所|住所地|注册地址|通讯地址|联系地址|法定地址|电话|联系电话|手机|传真|邮编|邮政编码|电子邮箱|邮箱|电子邮件|联系人|法定代表人|法人代表|授权代表|委托代理人|代理人|代表人|负责人|经办人|税号|纳税人识别号|统一社会信用代码|签订地点|签约地点|签署地点|合同签订地点|交货时间|交货日期|交货地点|交货期|交货方式|交货期限|验收标准|质保期|保修期|计量单位|单位|生产厂家|产地|制造商|盖章|签字|签章|公章|户名|账户名称|收款单位|收款人|开户名|行号|联行号|职务|发动机号|出厂编号|序列号|整机编号|使用地点|安装地点|名义货价|留购价款|留购价|手续费|租赁利率|违约金|滞纳金|定金|预付款|address|registered address|registered office|tel|telephone|phone|mobile|fax|email|e-mail|attn|attention|contact|contact person|legal representative|authorized representative|authorised representative|authorized signatory|authorised signatory|representative|registration no|company registration no|tax id|tax no|vat no|place of signing|signed at|place|delivery date|time of delivery|place of delivery|delivery|delivery time|warranty|warranty period|unit|uom|manufacturer|country of origin|origin|serial no|serial number|signature|signed by|by|title|position|account name|name of account|beneficiary|beneficiary name|payee|swift|swift code|bic|sort code|branch|location|installation site|page|delivery term|delivery terms|price term|packing|port of loading|port of destination|shipping mark|insurance|time of shipment|shipment|late charge|late fee|purchase option|nominal price'],
];

/** Words right before a label that turn it into another thing. */
export const TURNED_BY = /(?:是否[^:\n]{0,6}|主导|主要|主营|同类|报价|开票|会议|打印|填表|出厂|发货|验收|检验|不含税|未税|税前|除税|不含|违约|保险|运费|剩余|已付|未付|评估|逾期|罚|发票|实际|概算|投标|质量|质保|预付|进度|估算|原|最低|最高|注册|累计|税|minimum|maximum|late|overdue|estimated|annual|excluding|net|sub-?|insured|replacement|market|insurance|residual|stipulated loss|retention|book|termination|delivery|invoice|birth|shipment|bill of lading|acceptance|your)[ \t]{0,3}$/;

/** Words right before a Chinese label that only say more of the same. */
export const QUALIFIED_BY = /(?:期内|[一二两三四五六七八九十\d]台|本|该|此|本合同|本合同项下|合同|设备|货物|产品|租赁|项目|双方|甲方|乙方|卖方|买方|供方|需方|出租人|承租人|出租方|承租方|出卖人|买受人|收款|收款人|含税|增值税|上述|全部|每台|的|其|总计|人民币|以上|指定|购买|采购|货款|支付|缴纳|交纳|收取|交付)$/;
