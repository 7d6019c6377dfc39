/**
 * The cover page of a turnkey construction agreement and its milestone schedule: the parties precede their roles, a
 * table lists the shares, and there are amounts of liquidated damages.
 */
export const EN_EPC_MILESTONES = {
  text: `ENGINEERING, PROCUREMENT AND CONSTRUCTION AGREEMENT

Agreement No. RCE-EPC-014

between

RIO CLARO ENERGIA S.A.
as Owner

and

TERRANOVA POWER SYSTEMS INC.
as Contractor

dated as of 11 May 2026

for the
Rio Claro 36 MW Solar Project

EXHIBIT C
CONTRACT PRICE AND MILESTONE PAYMENT SCHEDULE

1. Contract Price
The Contract Price is US$28,750,000 (twenty-eight million seven hundred fifty thousand United States Dollars). The Contract Price is a fixed lump sum and may be adjusted only by a Change Order.

2. Milestone Payments
Owner shall pay the Contract Price to Contractor in the following milestone payments:

| No. | Payment Milestone | Percentage of Contract Price | Scheduled Payment Date |
|-----|-------------------|------------------------------|------------------------|
| 1 | Notice to Proceed issued | 10% | 1 June 2026 |
| 2 | Purchase orders for major equipment placed | 15% | 15 August 2026 |
| 3 | PV modules delivered to Site | 35% | 30 November 2026 |
| 4 | Mechanical Completion | 20% | 28 February 2027 |
| 5 | Substantial Completion | 15% | 30 April 2027 |
| 6 | Final Completion | 5% | 31 July 2027 |
| | Total | 100% | |

3. Invoices
Contractor shall submit an invoice when a milestone has been achieved, with the Owner's certificate. Owner shall pay undisputed amounts within thirty (30) days after receipt of the invoice, by wire transfer to the following account of Contractor:
Bank: First Lakes Bank, Toronto
Account Name: Terranova Power Systems Inc.
Account No.: 8830 114 552

4. Performance Security
Contractor shall deliver a letter of credit for 10% of the Contract Price within ten (10) days after the Notice to Proceed.

5. Delay Liquidated Damages
If Substantial Completion is not achieved by the guaranteed date, Contractor shall pay US$14,000 for each day of delay, up to 10% of the Contract Price.

6. Late Payment
Amounts that are not paid when due bear interest at 8% per annum.
`,
  expected: {
    contractNo: 'RCE-EPC-014',
    projectName: 'Rio Claro 36 MW Solar Project',
    partyA: 'RIO CLARO ENERGIA S.A.',
    partyB: 'TERRANOVA POWER SYSTEMS INC.',
    totalAmount: 28_750_000,
    currencyCode: 'USD',
    paymentMethod: 'wire transfer',
    payeeAccount: '8830 114 552',
    payeeBank: 'First Lakes Bank, Toronto',
    signDate: '2026-05-11',
    'payments[0].period': 'Notice to Proceed issued',
    'payments[0].dueDate': '2026-06-01',
    'payments[0].amount': 2_875_000,
    'payments[1].period': 'Purchase orders for major equipment placed',
    'payments[1].dueDate': '2026-08-15',
    'payments[1].amount': 4_312_500,
    'payments[2].period': 'PV modules delivered to Site',
    'payments[2].dueDate': '2026-11-30',
    'payments[2].amount': 10_062_500,
    'payments[3].period': 'Mechanical Completion',
    'payments[3].dueDate': '2027-02-28',
    'payments[3].amount': 5_750_000,
    'payments[4].period': 'Substantial Completion',
    'payments[4].dueDate': '2027-04-30',
    'payments[4].amount': 4_312_500,
    'payments[5].period': 'Final Completion',
    'payments[5].dueDate': '2027-07-31',
    'payments[5].amount': 1_437_500,
  },
};
