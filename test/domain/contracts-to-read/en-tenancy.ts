/** A tenancy in Singapore: one sentence states the premises, the term and the rent. */
export const EN_TENANCY = {
  text: `TENANCY AGREEMENT

An Agreement made this 21st day of July 2026 between:

LANDLORD: Jurong Bay Properties Pte. Ltd. (UEN 201512345K) of 8 Jurong Town Hall Road, Singapore 609434
TENANT: Straits Marine Electronics Pte. Ltd. (UEN 199907654R) of 21 Gul Way, Singapore 629211

WHEREBY IT IS AGREED as follows:

1. The Landlord lets and the Tenant takes all that property known as Block 5 #03-14 Gul Industrial Park, 30 Gul Drive, Singapore 629477 (the "Premises") for the term of two (2) years commencing on 1 August 2026 and expiring on 31 July 2028 at the monthly rent of Singapore Dollars Six Thousand Two Hundred (S$6,200.00) payable in advance on the 1st day of each month.
2. The Tenant shall pay a security deposit of S$12,400.00 upon signing this Agreement.
3. The rent shall be paid by GIRO to the Landlord's account no. 033-904411-8 with Straits Commercial Bank.
4. The Tenant shall pay goods and services tax at 9% on the rent.
5. The Tenant may terminate by two months' notice after 31 July 2027 against payment of compensation of S$3,100.00.
6. The stamp duty is borne by the Tenant.
`,
  expected: {
    type: 'lease',
    partyA: 'Straits Marine Electronics Pte. Ltd.',
    partyB: 'Jurong Bay Properties Pte. Ltd.',
    equipmentName: 'Block 5 #03-14 Gul Industrial Park, 30 Gul Drive, Singapore 629477',
    signDate: '2026-07-21',
    startDate: '2026-08-01',
    endDate: '2028-07-31',
    periodicRent: 6_200,
    currencyCode: 'SGD',
    deposit: 12_400,
    paymentMethod: 'GIRO',
    payeeAccount: '033-904411-8',
    payeeBank: 'Straits Commercial Bank',
    invoicePoints: 9,
  },
};
