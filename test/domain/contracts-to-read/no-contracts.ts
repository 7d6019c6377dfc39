/**
 * Business documents that are neither a sale nor a lease, full of dates, amounts and goods. The parties and the
 * referenced contract may be extracted; any other value is invented.
 */
export interface NoContract {
  readonly text: string;
  /** The fields that may be extracted. */
  readonly stated: Readonly<Record<string, string | number>>;
}

export const NO_CONTRACTS: Readonly<Record<string, NoContract>> = {
  'an English confidentiality agreement': {
    text: `MUTUAL NON-DISCLOSURE AGREEMENT

This Agreement is made on 4 February 2026 between:

(1) Holloway Instruments Limited, a company registered in England (No. 06612904), of 3 Science Way, Cambridge ("Holloway"); and
(2) Brackwell Optics plc, of 40 Mount Street, Manchester ("Brackwell").

1. Purpose. The parties wish to discuss a possible purchase of optical equipment and the price and terms of such a purchase (the "Purpose").
2. Each party shall keep the other's Confidential Information secret and use it only for the Purpose. Information includes prices, quantities, customer lists, equipment specifications and business plans.
3. Term. The obligations in this Agreement continue for five years from the date of this Agreement.
4. Return. Within 14 days of a request the recipient shall return all documents.
5. Damages of up to £50,000 may not be an adequate remedy, and the parties may seek injunctions.
6. Nothing in this Agreement obliges either party to buy or sell anything or to make any payment.
7. Notices shall be delivered by hand or sent by e-mail. This Agreement is governed by the law of England.

Signed for Holloway Instruments Limited: ____________      Signed for Brackwell Optics plc: ____________
`,
    stated: { partyA: 'Holloway Instruments Limited', partyB: 'Brackwell Optics plc' },
  },
  'a Chinese confidentiality agreement': {
    text: `保密协议

甲方：苏州启明光学仪器有限公司
乙方：南京博远科技有限公司

鉴于甲、乙双方拟就设备采购项目进行洽谈，双方就保密事项达成如下协议：

一、保密信息
保密信息包括但不限于价格、数量、客户名单、设备规格型号、付款条件及经营计划。

二、保密期限
本协议项下的保密义务自2026年3月1日起至2031年2月28日止。

三、违约责任
任何一方违反本协议的，应向对方支付违约金人民币200,000元，并赔偿由此造成的全部损失。

四、资料返还
乙方应在甲方提出要求后10日内返还全部资料，不得留存复印件。

五、其他
本协议不构成任何一方购买或出售设备的承诺，任何一方无需支付任何费用。本协议一式两份。

甲方（盖章）：            乙方（盖章）：
日期：2026年3月1日        日期：2026年3月1日
`,
    stated: { partyA: '苏州启明光学仪器有限公司', partyB: '南京博远科技有限公司' },
  },
  'an English letter': {
    text: `Marlow & Finch Engineering Ltd
14 Foundry Lane, Sheffield S3 8UD

12 May 2026

Dear Mr Okafor,

Thank you for your visit last week and for the time that your colleagues took to show us the press line. We were impressed by how much has been done since 3 September 2024, when the old hall was closed.

As we said, a new press would cost somewhere between £250,000 and £400,000, depending on its model and on the equipment that goes with it. Two units would be cheaper per unit. About 30% of the price is usually paid in advance and 70% on delivery, but that is for our sales people to tell you. A lease might be possible too, at a monthly rent of perhaps £9,000.

The buyer of the old line has not paid yet; the balance of £18,000 is due at the end of June. If you would like references, our bank will gladly give them.

I shall be in Leeds from 1 June 2026 to 5 June 2026 and would be pleased to call on you then.

Yours sincerely,
Helen Marlow
Director
`,
    stated: {},
  },
  'a Chinese letter': {
    text: `关于催办设备验收事宜的函

杭州大成机械有限公司：

贵公司于2026年3月5日发来的传真已收悉。我公司与贵公司合作多年，合作一直十分愉快。

去年采购的三台数控机床单价约为35万元，总价100多万元，目前已有两台完成调试，另一台因配件未到尚未验收。请贵公司于2026年4月15日前派员到场，否则由此产生的损失由贵公司承担，每逾期一天损失约5,000元。

另外，我公司已按约定支付了30%的货款，剩余70%将在验收合格后支付。如贵公司资金周转困难，也可考虑将其中一台改为租赁，月租金可以另行商议。

此致
敬礼

宁波海川精密制造有限公司
二〇二六年三月二十日
`,
    stated: {},
  },
  'an English price list': {
    text: `PRICE LIST 2026
Brennan Access Equipment Ltd
Valid from 1 January 2026 to 31 December 2026. All prices in GBP, excluding VAT at 20%.

Model        Description                     Unit price     Weekly rent     Monthly rent
SL-10        Scissor lift, 10 m              14,500.00      180.00          540.00
SL-14        Scissor lift, 14 m              19,800.00      240.00          720.00
BL-20        Boom lift, 20 m                 52,000.00      610.00          1,830.00

Delivery: £85.00 within 30 miles
Deposit: 10% of the list price on hire
Payment terms: 30 days net
Orders above £50,000 earn 5% discount.
Bank: Midland Commerce Bank, Leeds
`,
    stated: {},
  },
  'a Chinese price list': {
    text: `2026年度产品报价单

报价单位：佛山市力恒起重设备有限公司
报价日期：2026年1月8日
有效期至：2026年6月30日

序号	产品名称	规格型号	单位	单价（元）
1	电动葫芦	CD1-3T	台	6,800.00
2	单梁起重机	LDA-10T	台	86,000.00
3	门式起重机	MG-20T	台	325,000.00

说明：
1. 以上价格含13%增值税，不含运费。
2. 付款方式：款到发货。
3. 批量采购10台以上可享受95折优惠。
联系人：黄经理    电话：0757-82210000
`,
    stated: {},
  },
  'English minutes of a meeting': {
    text: `MINUTES OF THE PROJECT MEETING

Date: 9 June 2026
Place: Board room, Tilbury
Present: A. Novak (chair), R. Singh, L. Meyer
Project: Quay 4 extension

1. Minutes of the meeting of 12 May 2026 were approved.
2. Budget. R. Singh reported spending of £1,240,000 of a total of £2,000,000. The total amount of open invoices is £86,500.
3. Cranes. L. Meyer proposed to lease two cranes from the seller of the first one for 24 months at a monthly rent of about £11,500 instead of buying them at £640,000 per unit. A deposit of £20,000 would be needed. Decision deferred.
4. Contract. The draft of the supply agreement goes to the lawyers; the buyer wants to pay 20% on signing and 80% on delivery.
5. Next meeting: 14 July 2026, 10:00.
`,
    stated: { projectName: 'Quay 4 extension' },
  },
  'Chinese minutes of a meeting': {
    text: `会议纪要

会议时间：2026年5月20日
会议地点：公司三楼会议室
主持人：刘建华
参会人员：采购部、财务部、设备部
项目：二期厂房设备更新

一、采购部汇报设备采购进展：拟购买加工中心3台，预算总金额约450万元，供应商初步报价单价155万元。
二、财务部提出，预付款比例不宜超过20%，余款应在验收后支付；若采用租赁方式，月租金控制在5万元以内。
三、会议决定：由采购部于2026年6月10日前完成合同谈判，甲方代表由王敏担任。
四、下次会议时间：2026年6月15日。

记录人：陈静
`,
    stated: { projectName: '二期厂房设备更新' },
  },
  'an English invoice': {
    text: `Calder Hydraulics Ltd
Unit 2, Canal Street, Halifax HX1 4QP
VAT No. GB 411 2290 18

INVOICE

Invoice No: INV-20871
Invoice date: 30 April 2026
Due date: 30 May 2026
Your order: 7731
Bill to: Northgate Fabrications Ltd, Unit 9, Low Road, Leeds

Description                     Qty    Unit price    Amount
Seal kit, 80 mm                 12     41.50         498.00
Hose assembly, 2 m              4      96.25         385.00
Carriage                        1      18.00         18.00

Subtotal                                             901.00
VAT at 20%                                           180.20
Total due                                            GBP 1,081.20

Please pay by bank transfer to Calder Hydraulics Ltd, sort code 40-22-18, account number 71882290, quoting the invoice number.
Late payment: interest at 8% above base rate.
`,
    stated: { partyA: 'Northgate Fabrications Ltd' },
  },
  'a Chinese invoice': {
    text: `电子发票（增值税专用发票）

发票号码：26332000000781234567
开票日期：2026年5月6日

购买方信息
名称：杭州宏业机电有限公司
统一社会信用代码/纳税人识别号：91330100MA2C00000X

销售方信息
名称：宁波甬江液压件有限公司
统一社会信用代码/纳税人识别号：91330200MA2H00000Y

项目名称	规格型号	单位	数量	单价	金额	税率/征收率	税额
*通用设备*液压缸	HSG-80	台	4	2,300.00	9,200.00	13%	1,196.00
合计					¥9,200.00		¥1,196.00
价税合计（大写）：壹万零叁佰玖拾陆元整    （小写）¥10,396.00

备注：
开票人：周倩
`,
    stated: { partyA: '宁波甬江液压件有限公司', partyB: '杭州宏业机电有限公司' },
  },
  'an e-mail': {
    text: `From: p.santos@example.com
To: sales@example.org
Subject: crane

Hi Tom,
can you send me a quote for two tower cranes? Last time the unit price was EUR 310,000 and we paid 20% on order and 80% on delivery by bank transfer. Alternatively we would rent them from 1 March 2026 to 31 August 2026 at EUR 14,500 a month, deposit EUR 29,000.
The contract should be signed by 15 February 2026.
Thanks
Paulo
`,
    stated: {},
  },
  'a Chinese call for tenders': {
    text: `设备采购招标公告

项目名称：市第一中学实验室设备采购项目
招标编号：ZB2026-0088
预算金额：人民币2,350,000.00元
采购内容：实验台120套、通风柜16台
投标保证金：人民币40,000元
投标截止时间：2026年5月18日9时30分
开标地点：市公共资源交易中心
合同履行期限：合同签订后60日内
付款方式：验收合格后支付合同金额的95%，余款5%质保期满后支付。
采购人：市第一中学
采购代理机构：中诚招标代理有限公司
`,
    stated: { projectName: '市第一中学实验室设备采购项目', partyA: '市第一中学' },
  },
  'a statement of account': {
    text: `ACCOUNT STATEMENT
Harbour Bank plc
Account name: Delta Pumps Ltd
Account number: 30441922    Sort code: 20-11-04
Statement period: 1 March 2026 to 31 March 2026

Date          Description                      Amount        Balance
02 Mar 2026   Rent payment Unit 4              -4,200.00     51,220.11
09 Mar 2026   Customer payment inv 2231        18,900.00     70,120.11
27 Mar 2026   Deposit                          5,000.00      75,120.11
Closing balance GBP 75,120.11
`,
    stated: {},
  },
  'a delivery note': {
    text: `DELIVERY NOTE
No. 77120    Date: 11 March 2026
Deliver to: Northern Foods Ltd, Hull
Order no: PO-5510
Item   Description          Qty   Unit
1      Stainless pump P-40  2     pcs
2      Gasket set           10    pcs
Received in good order: ____________
`,
    stated: { contractNo: 'PO-5510' },
  },
  'a contract of employment': {
    text: `EMPLOYMENT CONTRACT

This contract is made on 3 August 2026 between Orchard Analytics Ltd ("the Employer") and Ms Dana Petrescu ("the Employee").
1. Position: Senior Data Analyst.
2. Start date: 1 September 2026. The probation period ends on 28 February 2027.
3. Salary: £58,000 per annum, paid monthly in arrears by bank transfer on the last working day.
4. Notice: three months. Holiday: 25 days.
5. Equipment: the Employer provides a laptop and a telephone, which remain its property.
`,
    stated: {},
  },
  'a Chinese brochure': {
    text: `公司简介
华东重机集团成立于1998年3月12日，注册资本人民币2亿元，占地面积300亩，年产各类起重机800台，产品销往全国30多个省市。
主导产品：履带起重机、塔式起重机、施工升降机。其中QTZ80型塔机单价低于同类产品10%，市场占有率达到35%，用户满意度98%。
公司与多家银行建立了良好的合作关系，可提供融资租赁服务，首付20%，余款分36期支付。
地址：无锡市惠山区工业园    电话：0510-83220000
`,
    stated: {},
  },
  'a certificate of insurance': {
    text: `CERTIFICATE OF INSURANCE
Insured: Northgate Crane Hire Ltd
Insurer: Albion Mutual Insurance plc
Policy number: CPA/2026/00417
Period of insurance: from 1 April 2026 to 31 March 2027, both dates inclusive
Property insured: Tower crane, model TC-6013, serial no. 88120
Sum insured: £640,000
Premium: £7,920 payable in four instalments
Excess: £2,500 each and every loss
`,
    stated: {},
  },
  'a Chinese loan': {
    text: `借款合同
合同编号：JK2026-15
贷款人（甲方）：宁波城商小额贷款有限公司
借款人（乙方）：宁波奇点模具有限公司
一、借款金额：人民币1,000,000.00元（大写：壹佰万元整）。
二、借款期限：自2026年4月1日起至2027年3月31日止。
三、年利率6.5%，按月付息，到期一次还本。
四、乙方以其数控机床2台提供抵押担保。
`,
    stated: { contractNo: 'JK2026-15', partyA: '宁波城商小额贷款有限公司', partyB: '宁波奇点模具有限公司' },
  },
};
