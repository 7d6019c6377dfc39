// A client of a running server for the checks of images and charts. The organisation is the one that `duebook bootstrap` made.
//   PASSWORD=… node api.mjs BASE create      makes a contract with two payment lines and prints its id
//   PASSWORD=… node api.mjs BASE read ID     prints the contract's number, amounts and lines
// BASE is an origin. NODE_EXTRA_CA_CERTS names its CA if it is one of our own.
const [base, action, id] = process.argv.slice(2);
const TIMEOUT_MS = 30_000;

async function call(method, path, { token, body } = {}) {
  const answer = await fetch(`${base}/api/v1${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

const { accessToken: token } = await call('POST', '/auth/login', {
  body: { tenantSlug: 'acme', email: 'ann@acme.example', password: process.env.PASSWORD },
});
if (action === 'create') {
  const { user, subjects } = await call('GET', '/auth/me', { token });
  const contract = await call('POST', '/contracts', {
    token,
    body: {
      archiveCode: 'A-1',
      contractNo: 'C-1',
      projectName: 'Excavators for the harbour',
      type: 'lease',
      subjectId: subjects[0].id,
      ownerId: user.id,
      partyA: 'Harbour Works Ltd',
      partyB: 'Acme Machinery',
      equipmentName: 'Excavator',
      equipmentModel: 'XE-215',
      quantity: 2,
      unitPrice: 60000,
      currencyCode: 'CNY',
      paymentMethod: 'bank transfer',
      payeeAccount: '6222020200112233445',
      startDate: '2026-01-01',
      endDate: '2027-12-31',
      payments: [
        { period: '2026-Q1', dueDate: '2026-01-10', amount: 60000 },
        { period: '2099-Q1', dueDate: '2099-01-10', amount: 60000 },
      ],
    },
  });
  console.log(contract.id);
} else if (action === 'read') {
  const { contractNo, totalAmount, outstandingAmount, payments } = await call('GET', `/contracts/${id}`, { token });
  console.log(
    JSON.stringify({
      contractNo,
      totalAmount,
      outstandingAmount,
      lines: payments.map(({ period, amount }) => [period, amount]),
    }),
  );
} else throw new Error('usage: node api.mjs BASE create | read ID');
