// Verifies an export of the ledger without the gateway: node verify-ledger.js ledger.jsonl [signing-keys.json]
// Give the answer of GET /api/signing-keys that you kept from earlier; without it the keys in the export are believed.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'

const [file, keysFile] = process.argv.slice(2)

/** Lines end at line feeds alone: texts have other separators, such as U+2028. */
async function* linesOf(path) {
  let rest = ''
  for await (const part of createReadStream(path, 'utf8')) {
    const lines = (rest + part).split('\n')
    rest = lines.pop()
    yield* lines
  }
  if (rest !== '') yield rest
}

/** RFC 8785: no spaces, and the names of each object in the order of their UTF-16 code units. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}

function fail(reason) {
  console.log(`INVALID: ${reason}`)
  process.exit(1)
}

let exported
let last
const hashes = new Map()
const counts = { entries: 0, checkpoints: 0 }

function takeEntry(entry) {
  const { hash, ...fields } = entry
  const expected = last ? last.seq + 1 : exported.from_seq
  if (entry.seq !== expected) fail(`entry ${entry.seq} stands in the place of entry ${expected}`)
  if (createHash('sha256').update(canonical(fields)).digest('hex') !== hash)
    fail(`entry ${entry.seq} was changed`)
  const before = last ? last.hash : entry.seq === 1 ? '0'.repeat(64) : entry.prev_hash
  if (entry.prev_hash !== before) fail(`entry ${entry.seq} does not follow the one before it`)
  if (entry.ledger !== exported.ledger) fail(`entry ${entry.seq} is of another ledger`)
  last = entry
  hashes.set(entry.seq, hash)
  counts.entries += 1
}

function takeCheckpoint({ created_at, head_hash, ledger, seq, key_id, signature }) {
  const key = exported.keys.find(({ id }) => id === key_id)
  const bytes = Buffer.from(canonical({ created_at, head_hash, ledger, seq }))
  const isSigned =
    key && verify(null, bytes, createPublicKey(key.public_key), Buffer.from(signature, 'base64url'))
  if (!isSigned) fail(`the checkpoint of entry ${seq} is not signed by a known key`)
  if (ledger !== exported.ledger) fail(`the checkpoint of entry ${seq} is of another ledger`)
  if (hashes.get(seq) !== head_hash) fail(`the checkpoint of entry ${seq} confirms another hash`)
  counts.checkpoints += 1
}

for await (const text of linesOf(file)) {
  let line
  try {
    line = JSON.parse(text)
  } catch {
    fail('a line is no JSON')
  }
  // So a field that is there twice is noticed: others may read the first.
  if (JSON.stringify(line) !== text) fail('a line was changed')
  if (!exported && !line.export) fail('it does not begin with what was exported')
  if (line.export) {
    if (exported) fail('it begins twice')
    exported = line.export
    if (keysFile) exported.keys = JSON.parse(readFileSync(keysFile, 'utf8')).keys
  } else if (line.entry) takeEntry(line.entry)
  else takeCheckpoint(line.checkpoint)
}
if (!exported) fail('it is empty')
const end = Math.max(exported.to_seq, exported.from_seq - 1)
if ((last?.seq ?? exported.from_seq - 1) !== end)
  fail(`the export ends with ${last ? `entry ${last.seq}` : 'no entry'}, and names ${exported.to_seq}`)
console.log(`valid: ${counts.entries} entries, ${counts.checkpoints} checkpoints`)
