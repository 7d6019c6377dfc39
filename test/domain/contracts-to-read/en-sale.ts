/**
 * An export contract: labels on both sides of a line, a table with bars, a schedule of payments, the amount in words.
 */
export const EN_SALE = {
  text: `SALES CONTRACT

Contract No.: SC-2026-113                         Date: March 5, 2026

Seller: Shenzhen Brightway Machinery Co., Ltd.
Address: 88 Nanhai Avenue, Shenzhen, China
Tel: +86 755 2688 1000
Buyer: Andes Minería S.A.
Address: Av. Apoquindo 4501, Santiago, Chile

The Seller agrees to sell and the Buyer agrees to buy the goods below on these terms:

| Description of Goods | Model | Quantity | Unit Price (USD) | Amount (USD) |
|---|---|---|---|---|
| Hydraulic rock drill | HRD-220 | 4 sets | 128,750.00 | 515,000.00 |
| Total | | | | 515,000.00 |

Total Contract Value: USD 515,000.00 (SAY US DOLLARS FIVE HUNDRED FIFTEEN THOUSAND ONLY)

Terms of Payment: T/T

Payment schedule:

| Instalment | Due Date | Amount (USD) |
| --- | --- | --- |
| Down payment | 2026-03-20 | 154,500.00 |
| Before shipment | 2026-05-15 | 309,000.00 |
| Balance after acceptance | 2026-08-31 | 51,500.00 |

Contract Period: from 5 March 2026 to 31 December 2026

Time of Shipment: not later than 31 May 2026
Port of Loading: Shenzhen

Article 5 Installation and Commissioning
The Seller shall send two engineers for installation and commissioning within 15 days of arrival.

Beneficiary: Shenzhen Brightway Machinery Co., Ltd.
Beneficiary Bank: Bank of China, Shenzhen Branch
Beneficiary Account No.: 7559 1234 5678 901
SWIFT: BKCHCNBJ45A
`,
  expected: {
    contractNo: 'SC-2026-113',
    type: 'sale',
    partyA: 'Andes Minería S.A.',
    partyB: 'Shenzhen Brightway Machinery Co., Ltd.',
    equipmentName: 'Hydraulic rock drill',
    equipmentModel: 'HRD-220',
    quantity: 4,
    unitPrice: 128_750,
    totalAmount: 515_000,
    currencyCode: 'USD',
    paymentMethod: 'T/T',
    payeeAccount: '7559 1234 5678 901',
    payeeBank: 'Bank of China, Shenzhen Branch',
    signDate: '2026-03-05',
    startDate: '2026-03-05',
    endDate: '2026-12-31',
    'payments[0].period': 'Down payment',
    'payments[0].dueDate': '2026-03-20',
    'payments[0].amount': 154_500,
    'payments[1].period': 'Before shipment',
    'payments[1].dueDate': '2026-05-15',
    'payments[1].amount': 309_000,
    'payments[2].period': 'Balance after acceptance',
    'payments[2].dueDate': '2026-08-31',
    'payments[2].amount': 51_500,
  },
  terms: ['debug Installation and Commissioning'],
  warnings: [] as string[],
};
