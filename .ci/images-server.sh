#!/usr/bin/env bash
# Run beside a server in a container by .ci/images. $CONTAINER is the container, whose ports are those of 127.0.0.1 here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/checks.sh"
base=http://127.0.0.1:8080
in_it() { podman exec "$CONTAINER" "$@"; }

curl -fsS "$base/api/v1/health" | grep -q '"status":"ok"'
curl -fsS "$base/readyz"
curl -fsSL "$base/docs" | grep -qi duebook
curl -fsS "$base/" >/dev/null
for program in duebook duebook-agent; do in_it "$program" --version; done
in_it duebook doctor
PASSWORD=$(in_it duebook bootstrap --tenant-slug acme --tenant-name 'Acme Ltd' --name 'Ann Lee' --email ann@acme.example --json |
  node -pe 'JSON.parse(fs.readFileSync(0)).password')
export PASSWORD
id=$(node "$here/api.mjs" "$base" create)
node "$here/api.mjs" "$base" read "$id" | grep '"totalAmount":120000'

# Nothing runs as root, nothing else can be written, nothing may change its user.
[[ "$(in_it id -u)" == 10001 ]]
refused in_it touch /app/x
refused in_it touch /usr/local/bin/x
in_it touch /tmp/x
[[ -z "$(in_it find /usr /bin /sbin -xdev -type f -perm /6000)" ]]
refused in_it npm --version
in_it node -e 'const { components } = JSON.parse(require("fs").readFileSync("/app/licences/sbom.cdx.json")); if (components.length < 100) process.exit(1)'
in_it grep -q 'GNU LESSER GENERAL PUBLIC LICENSE' /app/licences/THIRD-PARTY.txt
# PDFs are read without the native canvas, which stays behind.
refused in_it ls /app/node_modules/@napi-rs/canvas
in_it node --input-type=module -e '
import { pdfjs } from "/app/dist/data-plane-agent/plane/files/text/pdfjs.js";
const text = "BT /F1 12 Tf 20 200 Td (Contract 42) Tj ET";
const data = Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R>>endobj
4 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
5 0 obj<</Length ${text.length}>>stream
${text}
endstream endobj
trailer<</Root 1 0 R>>`);
const document = await (await pdfjs()).getDocument({ data: new Uint8Array(data), verbosity: 0 }).promise;
const { items } = await (await document.getPage(1)).getTextContent();
if (items.map(({ str }) => str).join("") !== "Contract 42") throw new Error(JSON.stringify(items));
process.exit(0);'
# Packages for development stay behind.
refused in_it ls /app/node_modules/typescript
refused in_it ls /app/node_modules/mocha
