/** A purchase order of several items. */
export const EN_ORDER = {
  text: `PURCHASE ORDER

PO Number: 4500098123
Order Date: 15-Oct-2026
Vendor: Helvetia Robotics AG
Customer: Tees Valley Foundries plc
Currency: CHF

Item | Description | Model | Qty | Unit Price | Total
1 | Palletising robot | HR-6 | 2 | 145'000.00 | 290'000.00
2 | Gripper kit | GK-2 | 2 | 8'500.00 | 17'000.00
Grand Total | | | | | 307'000.00

Payment terms: 30 days net, bank transfer
Delivery date: 20-Dec-2026
`,
  expected: {
    contractNo: '4500098123',
    type: 'sale',
    partyA: 'Tees Valley Foundries plc',
    partyB: 'Helvetia Robotics AG',
    equipmentName: 'Palletising robot',
    equipmentModel: 'HR-6',
    quantity: 2,
    unitPrice: 145000,
    totalAmount: 307000,
    currencyCode: 'CHF',
    paymentMethod: '30 days net, bank transfer',
    signDate: '2026-10-15',
  },
  terms: [] as string[],
  warnings: [] as string[],
};
