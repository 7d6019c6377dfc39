/** An equipment lease in running English: parties in the recital, the rest in numbered clauses and a schedule. */
export const EN_LEASE = {
  text: `EQUIPMENT LEASE AGREEMENT

Lease No.: EL-2026-0457

This Equipment Lease Agreement (this "Agreement") is made and entered into as of the 15th day of January, 2026, by and between Harbour Logistics Leasing Ltd., a company incorporated under the laws of England and Wales with its registered office at 12 Quay Street, Bristol (the "Lessor"), and Smith and Sons Construction Limited, a company having its principal place of business at 45 Mill Road, Leeds (hereinafter referred to as the "Lessee").

1. Equipment. Lessor hereby leases to Lessee the following equipment:

Equipment Description: Liebherr LTM 1100 mobile crane
Model: LTM 1100-5.3
Quantity: 2 units
Project: Leeds Riverside Viaduct, Phase 2

2. Term. The lease shall commence on 1 February 2026 and shall expire on 31 January 2028 unless terminated earlier in accordance with this Agreement.

3. Rent. Lessee shall pay Lessor monthly rent of GBP 18,500.00 per month, payable monthly in advance on the first day of each month. The total rent over the term is GBP 444,000.00 (say: pounds sterling four hundred forty-four thousand only).

4. Security Deposit. Upon signing, Lessee shall pay a security deposit of GBP 37,000.00, refundable within 30 days of the end of the term.

5. Payment. All payments shall be made by bank transfer to the following account:
Bank: Barclays Bank plc, Bristol
Account Name: Harbour Logistics Leasing Ltd.
Account No.: 20-45-77 83920145
A late charge of 5% applies to any payment that is more than ten days overdue. VAT at 20% is charged in addition.

6. Delivery. Lessor shall deliver the equipment to the site on or before 30 January 2026 at Lessee's cost.

7. Return of Equipment. On expiry the Lessee shall return the equipment in good order.

IN WITNESS WHEREOF the parties have executed this Agreement.

LESSOR: ______________________          LESSEE: ______________________
Name:                                   Name:
Date: ______________                    Date: ______________
`,
  expected: {
    contractNo: 'EL-2026-0457',
    projectName: 'Leeds Riverside Viaduct, Phase 2',
    type: 'lease',
    partyA: 'Smith and Sons Construction Limited',
    partyB: 'Harbour Logistics Leasing Ltd.',
    equipmentName: 'Liebherr LTM 1100 mobile crane',
    equipmentModel: 'LTM 1100-5.3',
    quantity: 2,
    totalAmount: 444_000,
    currencyCode: 'GBP',
    paymentMethod: 'bank transfer',
    paymentCycle: 'monthly in advance',
    payeeAccount: '20-45-77 83920145',
    payeeBank: 'Barclays Bank plc, Bristol',
    deposit: 37_000,
    periodicRent: 18_500,
    signDate: '2026-01-15',
    startDate: '2026-02-01',
    endDate: '2028-01-31',
    invoicePoints: 20,
  },
  terms: [
    'payment Rent',
    'deposit Security Deposit',
    'payment Payment',
    'delivery Delivery',
    'expiry Return of Equipment',
  ],
  warnings: [] as string[],
};
