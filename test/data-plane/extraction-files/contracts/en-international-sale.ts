import { heading, p, table, title } from '../../../support/documents/blocks.js';
import type { ContractToRead } from './contract-to-read.js';

/**
 * After the International Trade Centre's model contract for the sale of goods (short version): each particular under
 * its own question.
 */
export const EN_INTERNATIONAL_SALE: ContractToRead = {
  page: {
    language: 'en',
    blocks: [
      title('CONTRACT FOR THE INTERNATIONAL COMMERCIAL SALE OF GOODS'),
      p('Contract reference: ICS/2026/0147'),
      heading('PARTIES:'),
      heading('Seller'),
      p('Name: Officine Meccaniche Brambilla S.p.A.'),
      p('Legal form: joint stock company'),
      p('Country of incorporation and trade register number: Italy, MB-1482207'),
      p('Address: Via dell’Industria 14, 20900 Monza, Italy'),
      p('Represented by: Giulia Ferraris, Export Director'),
      heading('Buyer'),
      p('Name: Saigon Packaging Joint Stock Company'),
      p('Legal form: joint stock company'),
      p('Country of incorporation and trade register number: Viet Nam, 0302118844'),
      p('Address: Lot C7, Tan Tao Industrial Park, Ho Chi Minh City, Viet Nam'),
      p('Represented by: Tran Minh Duc, General Director'),
      p('Hereinafter: “the Parties”'),
      heading('1. Goods'),
      p(
        '1.1. Subject to the terms agreed in this contract, the Seller shall deliver the following goods (hereinafter: “the Goods”) to the Buyer.',
      ),
      p('1.2. Description of the Goods: Automatic vertical form-fill-seal machine'),
      p('Model: VFS-420 Servo'),
      p('1.3. Quantity of the Goods: 4 units'),
      heading('2. Delivery'),
      p(
        '2.1. Applicable ICC Incoterms rules: CIF Cat Lai Port. 2.2. Date or period of delivery: not later than 30 November 2026.',
      ),
      heading('3. Price'),
      table(
        [
          ['Total price', 'EUR 612,000.00'],
          ['Price per unit', 'EUR 153,000.00'],
          ['Amount in letters', 'six hundred and twelve thousand euros'],
          ['Currency', 'EUR'],
          ['Method of determining the price', 'fixed, not subject to revision'],
        ],
        [40, 60],
      ),
      heading('4. Payment conditions'),
      p('4.1. Means of payment: bank transfer to the Seller’s bank account.'),
      p('Details of Seller’s bank account: IBAN IT60X0542811101000000123456'),
      p('Beneficiary bank: Banca Popolare di Monza'),
      p('4.2. Payment in instalments:'),
      table(
        [
          ['Instalment', 'Due date', 'Percentage', 'Amount'],
          ['Advance payment', '15 July 2026', '20%', 'EUR 122,400.00'],
          ['Against shipping documents', '30 November 2026', '70%', 'EUR 428,400.00'],
          ['After acceptance', '28 February 2027', '10%', 'EUR 61,200.00'],
        ],
        [34, 24, 16, 26],
      ),
      heading('5. Documents'),
      p(
        'The Seller shall make available to the Buyer the commercial invoice, the packing list, the insurance certificate and the certificate of origin.',
      ),
      heading('6. Non-payment of the price by the Buyer at the agreed time'),
      p(
        'If the Buyer fails to pay the price at the agreed time, the Seller shall fix an additional period of 15 days for performance of payment. Interest shall be calculated at 4% per annum.',
      ),
      heading('7. Applicable law'),
      p(
        'Questions relating to this contract which are not settled by the provisions contained in the contract itself shall be governed by the United Nations Convention on Contracts for the International Sale of Goods.',
      ),
      heading('DATE AND SIGNATURE OF THE PARTIES'),
      p('Date: 24 June 2026'),
      table(
        [
          ['Seller', 'Buyer'],
          ['Name: Giulia Ferraris\nSignature', 'Name: Tran Minh Duc\nSignature'],
        ],
        [50, 50],
      ),
    ],
  },
  expected: {
    contractNo: 'ICS/2026/0147',
    type: 'sale',
    partyA: 'Saigon Packaging Joint Stock Company',
    partyB: 'Officine Meccaniche Brambilla S.p.A.',
    equipmentName: 'Automatic vertical form-fill-seal machine',
    equipmentModel: 'VFS-420 Servo',
    quantity: 4,
    unitPrice: 153_000,
    totalAmount: 612_000,
    currencyCode: 'EUR',
    signDate: '2026-06-24',
    paymentMethod: 'bank transfer to the Seller’s bank account',
    payeeAccount: 'IT60X0542811101000000123456',
    payeeBank: 'Banca Popolare di Monza',
    'payments[0].period': 'Advance payment',
    'payments[0].dueDate': '2026-07-15',
    'payments[0].amount': 122_400,
    'payments[1].period': 'Against shipping documents',
    'payments[1].dueDate': '2026-11-30',
    'payments[1].amount': 428_400,
    'payments[2].period': 'After acceptance',
    'payments[2].dueDate': '2027-02-28',
    'payments[2].amount': 61_200,
  },
};
