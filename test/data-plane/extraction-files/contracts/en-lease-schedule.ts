import { columns, p, table, title } from '../../../support/documents/blocks.js';
import type { ContractToRead } from './contract-to-read.js';

/** After a schedule to a master lease: the equipment in a table, the dates on lines of a form. */
export const EN_LEASE_SCHEDULE: ContractToRead = {
  page: {
    language: 'en',
    blocks: [
      title('LEASE SCHEDULE NO. 4'),
      p(
        'The lessor Meridian Forklift Leasing Limited (“Lessor”) hereby leases to the lessee Baltic Cold Store Operators Limited (“Lessee”), and the lessee hereby leases from the lessor, the equipment described below according to the terms and conditions mentioned in the Master Lease between the lessor and the lessee.',
      ),
      table(
        [
          ['Item', 'Qty', 'Equipment or machine', 'Model', 'Serial numbers', 'Monthly rent each'],
          ['1', '6', 'Electric counterbalance truck', 'E25-600H', '387-1104 to 387-1109', 'GBP 412.50'],
        ],
        [8, 8, 28, 16, 22, 18],
      ),
      p('Total monthly rent: GBP 2,475.00, payable monthly in advance by bank transfer'),
      p('First full monthly payment date: 1 June 2026'),
      p('Lease term: 60 months'),
      p('Last full monthly payment date: 1 May 2031'),
      p('Lease termination date: 31 May 2031'),
      p('Total rentals payable: GBP 148,500.00'),
      p('Refundable deposit: GBP 4,950.00'),
      p('Equipment location: Dock Road, Tilbury, Essex RM18 7EH'),
      p(
        'Except as stated in this Schedule, the terms of the Master Lease apply. The Lessee confirms that it selected the equipment and that the Lessor made no promise about its fitness.',
      ),
      p('Signed on 19 May 2026'),
      columns(
        [
          ['Name of lessor: Meridian Forklift Leasing Limited', 'Name of lessee: Baltic Cold Store Operators Limited'],
          ['Address: 2 Harbour Exchange, London E14 9GE', 'Address: Dock Road, Tilbury RM18 7EH'],
          ['Signature: ____________', 'Signature: ____________'],
        ],
        [50, 50],
      ),
    ],
  },
  expected: {
    type: 'lease',
    partyA: 'Baltic Cold Store Operators Limited',
    partyB: 'Meridian Forklift Leasing Limited',
    equipmentName: 'Electric counterbalance truck',
    equipmentModel: 'E25-600H',
    quantity: 6,
    periodicRent: 2_475,
    totalAmount: 148_500,
    currencyCode: 'GBP',
    deposit: 4_950,
    endDate: '2031-05-31',
    signDate: '2026-05-19',
    paymentMethod: 'bank transfer',
    paymentCycle: 'monthly in advance',
  },
};
