/** A rental contract that was kept as a workbook: particulars on the first sheet, the payments on the second. */
export const EN_RENTAL_SHEET = {
  sheets: [
    { name: 'Contract', rows: [
      ['EQUIPMENT RENTAL AGREEMENT'],
      ['Agreement No.', 'RA-10452'], ['Agreement date', new Date(Date.UTC(2026, 1, 9))],
      [null],
      ['Owner / Lessor', 'Great Lakes Compressor Rentals, Inc.'], ['Customer / Lessee', 'Ridgeway Paper Mills Company'],
      ['Equipment', 'Oil-free rotary screw compressor'], ['Make / Model', 'ZT 160 VSD'], ['Number of units', 2],
      ['Rental start date', new Date(Date.UTC(2026, 2, 1))], ['Rental end date', new Date(Date.UTC(2026, 7, 31))],
      ['Rent per month', 12_400], ['Total rent', 74_400], ['Currency', 'USD'], ['Security deposit', 15_000], ['Payment method', 'ACH transfer'], ['Remit to bank', 'Huron Valley State Bank'], ['Account number', '004417720933'],
    ] },
    { name: 'Payments', rows: [
      ['Instalment', 'Due date', 'Amount (USD)'],
      ['March 2026', new Date(Date.UTC(2026, 2, 1)), 12_400], ['April 2026', new Date(Date.UTC(2026, 3, 1)), 12_400], ['May 2026', new Date(Date.UTC(2026, 4, 1)), 12_400], ['June 2026', new Date(Date.UTC(2026, 5, 1)), 12_400], ['July 2026', new Date(Date.UTC(2026, 6, 1)), 12_400], ['August 2026', new Date(Date.UTC(2026, 7, 1)), 12_400],
      ['Total', null, 74_400],
    ] },
  ] as const,
  expected: {
    contractNo: 'RA-10452', type: 'lease', signDate: '2026-02-09', partyA: 'Great Lakes Compressor Rentals, Inc.', partyB: 'Ridgeway Paper Mills Company', equipmentName: 'Oil-free rotary screw compressor', equipmentModel: 'ZT 160 VSD', quantity: 2, startDate: '2026-03-01', endDate: '2026-08-31', periodicRent: 12_400, totalAmount: 74_400, currencyCode: 'USD', deposit: 15_000,
    paymentMethod: 'ACH transfer', payeeBank: 'Huron Valley State Bank', payeeAccount: '004417720933',
    ...Object.fromEntries(['March', 'April', 'May', 'June', 'July', 'August'].flatMap((month, n) => [[`payments[${n}].period`, `${month} 2026`], [`payments[${n}].dueDate`, `2026-0${n + 3}-01`], [`payments[${n}].amount`, 12_400]])),
  },
};
