/**
 * A schedule to an American master lease: the date of the master lease comes first, the lessor's cost is not a total,
 * and the table of casualty values is not a payment plan.
 */
export const EN_EQUIPMENT_SCHEDULE = {
  text: `                                EQUIPMENT SCHEDULE

Schedule Number: 40188-003

This Equipment Schedule (this "Schedule") is entered into as of October 9, 2026 and is issued pursuant to, and incorporates, the Master Equipment Lease Agreement dated as of March 3, 2025 (the "Master Lease") between PRAIRIE STATE CAPITAL, LLC, an Illinois limited liability company ("Lessor"), and DELMONT FOODS, INC., a Delaware corporation ("Lessee"). Capitalized terms not defined in this Schedule have the meanings given in the Master Lease.

A.  EQUIPMENT LEASED

Quantity    Description                    Manufacturer    Model         Serial Numbers
2           Rotary bottle labeler          Halden          CR-720 HS     HL-77120, HL-77121

Equipment Location: 4100 Industrial Drive, Peoria, Illinois 61607

B.  FINANCIAL TERMS

1.  Lessor's Cost: $1,248,600.00
2.  Base Term: forty-eight (48) months
3.  Rent Commencement Date: November 1, 2026
4.  Base Term Expiration Date: October 31, 2030
5.  Basic Rent: $28,915.40 per month, plus applicable sales and use taxes
6.  Rent Payment Frequency: Monthly in Advance
7.  Security Deposit: $30,000.00
8.  Documentation Fee: $750.00
9.  All Rent shall be paid by ACH debit to the account that Lessor designates in its invoices.

C.  END OF TERM

At the expiration of the Base Term Lessee may purchase all of the Equipment for its then Fair Market Value, which the parties agree will not exceed $187,290.00. Lessee shall give notice at least one hundred twenty (120) days before the Base Term expires.

D.  INSURANCE

Lessee shall maintain commercial general liability insurance of at least $2,000,000 per occurrence and property insurance for not less than the Stipulated Loss Value.

E.  STIPULATED LOSS VALUES

After Rent Payment No.    Percentage of Lessor's Cost
1                         103.50%
12                        86.20%
24                        64.75%
36                        41.10%
48                        15.00%

IN WITNESS WHEREOF, the parties have caused this Schedule to be executed by their duly authorized officers.

PRAIRIE STATE CAPITAL, LLC                  DELMONT FOODS, INC.
By: ____________________                    By: ____________________
Name: Carla Whitcomb                        Name: Russell T. Oyelaran
Title: Vice President                       Title: Chief Financial Officer
`,
  expected: {
    contractNo: '40188-003',
    type: 'lease',
    partyA: 'DELMONT FOODS, INC.',
    partyB: 'PRAIRIE STATE CAPITAL, LLC',
    equipmentName: 'Rotary bottle labeler',
    equipmentModel: 'CR-720 HS',
    quantity: 2,
    currencyCode: 'USD',
    paymentMethod: 'ACH debit',
    paymentCycle: 'Monthly in Advance',
    deposit: 30_000,
    periodicRent: 28_915.4,
    signDate: '2026-10-09',
    startDate: '2026-11-01',
    endDate: '2030-10-31',
  },
};
