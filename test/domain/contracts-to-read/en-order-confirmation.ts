/**
 * An order confirmation of a continental machine builder: the seller appears in the letterhead, the buyer as an
 * address, and the payment plan as a sentence of shares.
 */
export const EN_ORDER_CONFIRMATION = {
  text: `Kessler Fördersysteme GmbH
Industriestraße 18, 74564 Crailsheim, Germany
Tel. +49 7951 400-0, sales@kessler-foerder.example

ORDER CONFIRMATION

Confirmation no.       AB-260417
Confirmation date      17.04.2026
Your order             88-20931 of 10.04.2026
Customer no.           104488
Person in charge       Miriam Vogt

Sold to:
Lakeshore Parcel Hub Oy
Satamakatu 5
00160 Helsinki
Finland

Dear Sir or Madam,
We thank you for your order and confirm it on the terms below.

Pos.    Description                  Type          Qty    Unit    Unit price EUR    Total EUR
10      Belt curve conveyor 90°      GF-1200-L     6      pcs     14,380.00         86,280.00

Net value                                                                       EUR 86,280.00
VAT exempt intra-Community supply
Total amount                                                                    EUR 86,280.00

Terms of payment:  30% on order confirmation, 60% on readiness for dispatch, 10% within 30 days after commissioning, by bank transfer
Terms of delivery:  FCA Crailsheim (Incoterms 2020)
Dispatch:  calendar week 28/2026
Warranty:  24 months from delivery, at the latest until 31.08.2028

Bank details: Volksbank Hohenlohe eG, IBAN DE44 6229 1020 0004 7110 08, BIC GENODES1VHL
Register court Ulm HRB 670455, VAT ID DE146522000, Managing directors: Uwe Kessler, Anja Roth
`,
  expected: {
    contractNo: 'AB-260417',
    type: 'sale',
    partyA: 'Lakeshore Parcel Hub Oy',
    partyB: 'Kessler Fördersysteme GmbH',
    equipmentName: 'Belt curve conveyor 90°',
    equipmentModel: 'GF-1200-L',
    quantity: 6,
    unitPrice: 14_380,
    totalAmount: 86_280,
    currencyCode: 'EUR',
    paymentMethod: 'bank transfer',
    payeeAccount: 'DE44 6229 1020 0004 7110 08',
    payeeBank: 'Volksbank Hohenlohe eG',
    signDate: '2026-04-17',
    'payments[0].period': 'on order confirmation',
    'payments[0].amount': 25_884,
    'payments[1].period': 'on readiness for dispatch',
    'payments[1].amount': 51_768,
    'payments[2].period': 'within 30 days after commissioning',
    'payments[2].amount': 8_628,
  },
};
