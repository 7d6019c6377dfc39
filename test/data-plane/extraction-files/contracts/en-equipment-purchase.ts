import { columns, heading, p, title } from '../../../support/documents/blocks.js';
import type { ContractToRead } from './contract-to-read.js';

/**
 * After a North American equipment purchase agreement: BETWEEN and AND, recitals, definitions, the price in words and
 * figures.
 */
export const EN_EQUIPMENT_PURCHASE: ContractToRead = {
  page: {
    language: 'en',
    blocks: [
      title('EQUIPMENT PURCHASE AGREEMENT'),
      p('This Equipment Purchase Agreement (the “Agreement”) is effective as of September 14, 2026,'),
      p(
        'BETWEEN: Northgate Conveyor Systems Inc. (the “Vendor”), a corporation organized and existing under the laws of the Province of Ontario, with its head office located at 88 Bronte Street, Milton, Ontario;',
      ),
      p(
        'AND: Prairie Seed Cleaners Co-operative Ltd. (the “Purchaser”), a co-operative organized and existing under the laws of the Province of Saskatchewan, with its head office located at 15 Elevator Road, Rosetown, Saskatchewan.',
      ),
      p(
        'WHEREAS the Vendor is the owner of certain conveying equipment; and WHEREAS the Vendor has agreed to sell to the Purchaser and the Purchaser has agreed to purchase from the Vendor the aforementioned equipment, upon and subject to the terms and conditions hereof;',
      ),
      p('NOW THEREFORE the parties hereto agree as follows:'),
      heading('1. Purchased Equipment'),
      p(
        'Subject to the terms and conditions hereof, the Vendor agrees to sell and the Purchaser agrees to purchase two (2) units of the inclined bucket elevator, model BE-1800 (the “Purchased Equipment”).',
      ),
      heading('2. Purchase Price'),
      p(
        'The purchase price payable by the Purchaser to the Vendor for the Purchased Equipment shall be the sum of three hundred eighteen thousand dollars (CAD 318,000.00), being CAD 159,000.00 per unit, exclusive of applicable taxes.',
      ),
      heading('3. Payment of the Purchase Price'),
      p('The Purchase Price shall be paid by electronic funds transfer as follows:'),
      p('(a) a down payment of CAD 95,400.00 on or before September 30, 2026;'),
      p('(b) a progress payment of CAD 159,000.00 on or before November 16, 2026; and'),
      p('(c) the balance of CAD 63,600.00 on or before January 15, 2027.'),
      heading('4. Closing and Delivery'),
      p(
        'The Vendor shall deliver the Purchased Equipment, free and clear of any lien, to the Purchaser’s premises no later than December 18, 2026. Title shall pass on payment in full.',
      ),
      heading('5. Warranty'),
      p(
        'The Vendor warrants the Purchased Equipment against defects in material and workmanship for a period of eighteen (18) months from delivery.',
      ),
      heading('6. Default'),
      p(
        'Any amount not paid when due shall bear interest at 12% per annum. If the Purchaser defaults, the Vendor may recover liquidated damages of CAD 10,000.00.',
      ),
      heading('7. Notices'),
      p('Any notice shall be in writing and delivered to the head office of the party to whom it is addressed.'),
      p('IN WITNESS WHEREOF, each party to this Agreement has caused it to be executed on the date indicated above.'),
      columns(
        [
          [
            'VENDOR\n\n__________________________\nAuthorized Signature\nPrint Name and Title',
            'PURCHASER\n\n__________________________\nAuthorized Signature\nPrint Name and Title',
          ],
        ],
        [50, 50],
      ),
    ],
  },
  expected: {
    type: 'sale',
    partyA: 'Prairie Seed Cleaners Co-operative Ltd.',
    partyB: 'Northgate Conveyor Systems Inc.',
    equipmentName: 'inclined bucket elevator',
    equipmentModel: 'BE-1800',
    quantity: 2,
    unitPrice: 159_000,
    totalAmount: 318_000,
    currencyCode: 'CAD',
    startDate: '2026-09-14',
    paymentMethod: 'electronic funds transfer',
    'payments[0].period': 'down payment',
    'payments[0].amount': 95_400,
    'payments[0].dueDate': '2026-09-30',
    'payments[1].period': 'progress payment',
    'payments[1].amount': 159_000,
    'payments[1].dueDate': '2026-11-16',
    'payments[2].period': 'balance',
    'payments[2].amount': 63_600,
    'payments[2].dueDate': '2027-01-15',
  },
};
