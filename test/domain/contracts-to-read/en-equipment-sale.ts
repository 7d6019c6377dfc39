/** An American sale of one machine: shares in words and digits, in the middle of a sentence. */
export const EN_EQUIPMENT_SALE = {
  text: `EQUIPMENT SALES AGREEMENT

Agreement Number: ESA-2026-7719

THIS EQUIPMENT SALES AGREEMENT is entered into this 6th day of August, 2026, by and between Copperline Machine Tool Corp., an Ohio corporation (hereinafter "Seller"), and Blue Mesa Aerospace, Inc., an Arizona corporation (hereinafter "Buyer").

1. SALE OF EQUIPMENT. Seller agrees to sell and Buyer agrees to purchase one (1) unit of the five-axis machining center, model VX-1050 (the "Equipment").
2. PURCHASE PRICE. The total purchase price for the Equipment is $689,500.00, exclusive of sales tax.
3. PAYMENT. Buyer shall pay the purchase price as follows: (a) twenty percent (20%) upon execution of this Agreement; (b) seventy percent (70%) prior to shipment; and (c) ten percent (10%) upon final acceptance at Buyer's facility. All payments shall be made by wire transfer.
4. DELIVERY. Seller shall ship the Equipment on or before December 18, 2026, FCA Dayton.
5. INSTALLATION. Seller shall install the Equipment within 10 days after delivery.
6. LIMITATION OF LIABILITY. Seller's liability shall not exceed 50% of the purchase price.
`,
  expected: {
    contractNo: 'ESA-2026-7719',
    type: 'sale',
    partyA: 'Blue Mesa Aerospace, Inc.',
    partyB: 'Copperline Machine Tool Corp.',
    equipmentName: 'five-axis machining center',
    equipmentModel: 'VX-1050',
    quantity: 1,
    totalAmount: 689_500,
    currencyCode: 'USD',
    paymentMethod: 'wire transfer',
    signDate: '2026-08-06',
    'payments[0].period': 'upon execution of this Agreement',
    'payments[0].amount': 137_900,
    'payments[1].period': 'prior to shipment',
    'payments[1].amount': 482_650,
    'payments[2].period': "upon final acceptance at Buyer's facility",
    'payments[2].amount': 68_950,
  },
};
