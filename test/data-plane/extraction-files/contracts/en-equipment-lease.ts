import { heading, p, title, columns } from '../../../support/documents/blocks.js';
import type { ContractToRead } from './contract-to-read.js';

/**
 * After a common American short form: the parties in the opening sentence, a number of equal payments, the deposit in a
 * separate clause.
 */
export const EN_EQUIPMENT_LEASE: ContractToRead = {
  page: {
    language: 'en',
    blocks: [
      title('EQUIPMENT LEASE'),
      p('Lease No. CAP-22871'),
      p(
        'This Equipment Lease (“Lease”) is made effective as of March 1, 2026, by and between Capstone Equipment Finance, LLC, a Delaware limited liability company with its principal office at 400 Wacker Drive, Chicago, Illinois 60606 (“Lessor”), and Tri-County Orthopedic Associates, P.C., an Ohio professional corporation having its place of business at 1200 Medina Road, Akron, Ohio 44333 (“Lessee”). The agreement of the parties is as follows:',
      ),
      heading('1. EQUIPMENT SUBJECT TO LEASE'),
      p(
        'The Lessor shall lease to the Lessee one (1) unit of the following equipment (the “Equipment”), together with all accessories and replacements:',
      ),
      p('Description: Mobile C-Arm X-Ray System'),
      p('Model: OEC Elite CFD 31'),
      p('Serial No.: E9-55-0713'),
      heading('2. PAYMENT TERMS'),
      p(
        'The Lessee shall make 48 payments of $3,275.00, for a total amount of $157,200.00. Payments shall be due on the first day of each month, with the first payment due on April 1, 2026. The lease payments shall be due without further notice to the Lessee of any payment being due. Payments shall be made by wire transfer.',
      ),
      heading('3. LATE CHARGE'),
      p(
        'A late charge of 5% of the payment shall be due if any Lease payment is not received within 10 days of the due date. In addition, interest will be charged at the rate of 1.5% per month on any unpaid balances.',
      ),
      heading('4. SECURITY DEPOSIT'),
      p(
        'The Lessee shall pay a security deposit of $6,550.00 at the time this Lease is signed. This deposit will be returned to the Lessee at the termination of this Lease, subject to the option of the Lessor applying it against Lease charges and damages.',
      ),
      heading('5. LEASE TERM'),
      p(
        'This Lease shall begin on the above effective date and shall terminate on February 28, 2030, unless otherwise terminated in a manner consistent with the terms of this Lease.',
      ),
      heading('6. LOCATION OF THE EQUIPMENT'),
      p(
        'The Equipment shall be located at the Lessee’s premises in Akron, Ohio during the lease term, and shall not be removed from that location without the Lessor’s prior written consent.',
      ),
      heading('7. CARE AND OPERATION'),
      p(
        'The Equipment may only be used and operated in a careful and proper manner. Its use must comply with all laws, ordinances and regulations relating to the possession, use or maintenance of the Equipment.',
      ),
      heading('8. INSURANCE'),
      p(
        'The Lessee shall insure the Equipment in an amount of at least $150,000.00 against fire, theft and collision, with the Lessor named as loss payee.',
      ),
      heading('9. OPTION TO PURCHASE'),
      p(
        'If the Lessee is not in default, the Lessee shall have the option to purchase the Equipment at the end of the term for $1.00.',
      ),
      heading('10. GOVERNING LAW'),
      p('This Lease shall be construed in accordance with the laws of the State of Illinois.'),
      columns(
        [
          [
            'LESSOR:\nCapstone Equipment Finance, LLC\n\nBy: ______________________\nDana R. Whitfield, Vice President',
            'LESSEE:\nTri-County Orthopedic Associates, P.C.\n\nBy: ______________________\nAlan M. Burke, M.D., President',
          ],
        ],
        [50, 50],
      ),
    ],
  },
  expected: {
    contractNo: 'CAP-22871',
    type: 'lease',
    partyA: 'Tri-County Orthopedic Associates, P.C.',
    partyB: 'Capstone Equipment Finance, LLC',
    equipmentName: 'Mobile C-Arm X-Ray System',
    equipmentModel: 'OEC Elite CFD 31',
    quantity: 1,
    totalAmount: 157_200,
    currencyCode: 'USD',
    periodicRent: 3_275,
    deposit: 6_550,
    startDate: '2026-03-01',
    endDate: '2030-02-28',
    paymentMethod: 'wire transfer',
  },
};
