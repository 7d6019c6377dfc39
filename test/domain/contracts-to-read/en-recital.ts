/**
 * A supply contract extracted from the pages of a file: numbered parties in the recital, many unrelated amounts, and
 * payment stages named by their conditions.
 */
export const EN_RECITAL = {
  text: `                         EQUIPMENT SUPPLY CONTRACT
                           Contract Ref: ESC-7741/26

This contract is entered into on 3 May 2026 between:

(1) Orbital Compressors Pty Ltd (ABN 51 824 753 556), a company registered in Victoria
    whose registered office is at Level 9, 100 Collins Street, Melbourne ("the Supplier"); and
(2) Kimberley Gas Holdings Limited, of 22 Marine Parade, Broome ("the Purchaser").

Background
A. The Purchaser requires two screw compressors for its Broome plant.
B. The Supplier has a paid-up capital of AUD 50,000,000.

1  The Goods
   The Supplier shall supply: Screw compressor, Model SCX-450, Quantity 2 units.
2  Price
   The Contract Price is AUD 1,900,000.00, being AUD 950,000.00 per unit, excluding GST.
   GST at 10% is payable in addition.
3  Payment
   30% of the Contract Price upon signing of this contract
   60% of the Contract Price upon delivery
   10% of the Contract Price within 30 days after commissioning
   Payment shall be made by electronic funds transfer to BSB 083-004, Account No. 12 345 6789, National Australia Bank.
4  Delivery
   Delivery to Broome no later than 30 November 2026. Liquidated damages of AUD 5,000 per day apply for late delivery, up to a maximum of AUD 190,000.
5  Warranty
   The warranty period is 24 months from commissioning and shall expire no later than 31 March 2029.
6  Insurance
   The Supplier shall insure the goods for AUD 2,090,000 until delivery.

Page 1 of 1
`,
  expected: {
    contractNo: 'ESC-7741/26',
    type: 'sale',
    partyA: 'Kimberley Gas Holdings Limited',
    partyB: 'Orbital Compressors Pty Ltd',
    equipmentModel: 'SCX-450',
    quantity: 2,
    unitPrice: 950000,
    totalAmount: 1900000,
    currencyCode: 'AUD',
    paymentMethod: 'electronic funds transfer',
    payeeAccount: '12 345 6789',
    signDate: '2026-05-03',
    invoicePoints: 10,
    'payments[0].period': 'upon signing of this contract',
    'payments[0].amount': 570000,
    'payments[1].period': 'upon delivery',
    'payments[1].amount': 1140000,
    'payments[2].period': 'within 30 days after commissioning',
    'payments[2].amount': 190000,
  },
  terms: [] as string[],
  warnings: [] as string[],
};
