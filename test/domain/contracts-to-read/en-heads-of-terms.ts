/**
 * Heads of terms for a lease of business premises in England, after the surveyors' checklist: each row has a heading
 * and the agreed term, with unrelated dates, amounts and firms between them.
 */
export const EN_HEADS_OF_TERMS = {
  text: `HEADS OF TERMS
SUBJECT TO CONTRACT

Letting of business premises at Castle Trade Park, Bristol

Our reference	HT/26/0319
Date	14 August 2026
Landlord	Avonmouth Industrial Estates Limited (company number 04417223) whose registered office is at 1 Queen Square, Bristol BS1 4JQ
Landlord's solicitors	Pembroke Hale LLP, 22 Corn Street, Bristol (ref. JT/4471)
Tenant	Westbury Joinery Works Limited (company number 09811340)
Tenant's solicitors	Ashdown & Firth, 9 High Street, Keynsham
Guarantor	None
Premises	Unit 7, Castle Trade Park, Kelston Road, Bristol BS10 5EP
Floor area	6,450 sq ft gross internal area
Length of lease	Ten years from and including 29 September 2026 and ending on 28 September 2036
Break right	The tenant may end the lease on 29 September 2031 on not less than six months' written notice
1954 Act	The lease will be excluded from sections 24 to 28 of the Landlord and Tenant Act 1954
Rent	£77,400 per annum exclusive of VAT, payable quarterly in advance on the usual quarter days by standing order
Rent-free period	Three months from the start of the lease
Rent review	Upward only to open market rent on 29 September 2031
Rent deposit	£19,350 (three months' rent) to be held under a separate rent deposit deed
Service charge	A fair proportion; the estimate for the current year is £4,150
Insurance	The landlord insures; the tenant repays the premium, currently £1,020 a year
Repairs	Full repairing, limited by a schedule of condition
Permitted use	Storage or distribution and light industrial
Assignment	Of the whole, with the landlord's consent
Legal costs	Each side bears its own
Timetable	Draft lease to be issued by 28 August 2026, completion as soon as possible

These heads of terms are not intended to be legally binding.
`,
  expected: {
    contractNo: 'HT/26/0319',
    type: 'lease',
    partyA: 'Westbury Joinery Works Limited',
    partyB: 'Avonmouth Industrial Estates Limited',
    equipmentName: 'Unit 7, Castle Trade Park, Kelston Road, Bristol BS10 5EP',
    currencyCode: 'GBP',
    paymentMethod: 'standing order',
    paymentCycle: 'quarterly in advance',
    deposit: 19_350,
    periodicRent: 77_400,
    signDate: '2026-08-14',
    startDate: '2026-09-29',
    endDate: '2036-09-28',
  },
};
