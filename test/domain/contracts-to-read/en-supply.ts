/**
 * A supply agreement with the parties in blocks below their headings, staged payments as shares, and a total that does
 * not match its parts.
 */
export const EN_SUPPLY = {
  text: `SUPPLY AGREEMENT

Agreement Number: SA/26/0091
Archive No.: F-7781
Agreement Date: 02 June 2026
Project Name: Rotterdam Cold Store Automation

PARTY A (Supplier):
Name: Nordwind Fördertechnik GmbH
Registered Address: Hafenstraße 4, 28217 Bremen, Germany

PARTY B (Purchaser):
Name: Van den Berg Koelopslag B.V.
Registered Address: Waalhaven 12, Rotterdam, The Netherlands

Product: Shuttle racking system
Specification: SR-600/L
Quantity: twelve (12) units
Unit Price: EUR 41.250,00
Contract Price: EUR 500.000,00
Currency: EUR
Method of Payment: bank transfer within 30 days of invoice
Security Deposit: none

Payment milestones:
(a) Down payment: 40% of the Contract Price upon signing;
(b) Progress payment: 40% of the Contract Price on delivery, no later than 30 September 2026;
(c) Final payment: 20% of the Contract Price after acceptance.

Effective Date: 15 June 2026
Expiry Date: 14 June 2027

Bank details of Party A
Bank Name: Commerzbank Bremen
IBAN: DE89 3704 0044 0532 0130 00

Signed by: ____________________
`,
  expected: {
    archiveCode: 'F-7781',
    contractNo: 'SA/26/0091',
    projectName: 'Rotterdam Cold Store Automation',
    type: 'sale',
    partyA: 'Nordwind Fördertechnik GmbH',
    partyB: 'Van den Berg Koelopslag B.V.',
    equipmentName: 'Shuttle racking system',
    equipmentModel: 'SR-600/L',
    quantity: 12,
    unitPrice: 41_250,
    totalAmount: 500_000,
    currencyCode: 'EUR',
    paymentMethod: 'bank transfer within 30 days of invoice',
    payeeAccount: 'DE89 3704 0044 0532 0130 00',
    payeeBank: 'Commerzbank Bremen',
    signDate: '2026-06-02',
    startDate: '2026-06-15',
    endDate: '2027-06-14',
    'payments[0].period': 'Down payment',
    'payments[0].amount': 200_000,
    'payments[1].period': 'Progress payment',
    'payments[1].dueDate': '2026-09-30',
    'payments[1].amount': 200_000,
    'payments[2].period': 'Final payment',
    'payments[2].amount': 100_000,
  },
  terms: [] as string[],
  warnings: ['TOTAL_MISMATCH'],
};
