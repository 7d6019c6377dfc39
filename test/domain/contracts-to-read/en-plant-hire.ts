/** A British plant hire: an owner and a hirer, a weekly charge, and insured values. */
export const EN_PLANT_HIRE = {
  text: `PLANT HIRE AGREEMENT

Hire contract no: PH-55210
Date of contract: 2 November 2026

Owner: Tarn & Beck Plant Hire Ltd, Depot Road, Kendal LA9 6QR
Hirer: Fellside Civil Engineering Ltd, 3 Station Yard, Penrith CA11 7HT
Site: A66 Temple Sowerby bypass

Plant: Tracked excavator, 21 tonne
Make and model: Hitachi ZX210LC-7
Number of machines: 3
Hire charge: £2,150.00 per week per machine
Minimum hire period: 12 weeks
Hire commences: 9 November 2026
Hire ends: 31 January 2027
Payment: within 30 days of invoice by BACS transfer
Deposit: nil
Cost of delivery and collection: £480.00 each way
Insurance value: £118,000 per machine

The CPA Model Conditions apply. Interest at 4% above base rate is charged on late payment.
`,
  expected: {
    contractNo: 'PH-55210',
    type: 'lease',
    partyA: 'Fellside Civil Engineering Ltd',
    partyB: 'Tarn & Beck Plant Hire Ltd',
    equipmentName: 'Tracked excavator, 21 tonne',
    equipmentModel: 'Hitachi ZX210LC-7',
    quantity: 3,
    periodicRent: 2_150,
    currencyCode: 'GBP',
    startDate: '2026-11-09',
    endDate: '2027-01-31',
    signDate: '2026-11-02',
    paymentMethod: 'BACS transfer',
  },
};
