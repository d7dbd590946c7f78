// Verifies a pack of evidence without the gateway: node verify-evidence.js pack.jsonl [signing-keys.json]
// Give the answer of GET /api/signing-keys that you kept from earlier; without it the key in the pack is believed.
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

const found = new Map()
let entry
let end

/** Entries of the ledger follow one another; each has the hash of all else in it. */
function takeEntry({ hash, ...fields }) {
  if (entry && (fields.seq !== entry.seq + 1 || fields.prev_hash !== entry.hash))
    fail(`entry ${fields.seq} does not follow the one before it`)
  if (createHash('sha256').update(canonical(fields)).digest('hex') !== hash)
    fail(`entry ${fields.seq} was changed`)
  entry = { seq: fields.seq, hash }
}

for await (const text of linesOf(file)) {
  if (end) fail('something stands behind the manifest')
  let line
  try {
    line = JSON.parse(text)
  } catch {
    fail('a line is no JSON')
  }
  if (canonical(line) !== text) fail('a line was changed')
  if (line.manifest) end = line
  else {
    const part = found.get(line.section) ?? { count: 0, hash: createHash('sha256') }
    part.hash.update(`${text}\n`)
    found.set(line.section, { ...part, count: part.count + 1 })
    if (line.section === 'ledger') takeEntry(line.item)
  }
}
if (!end) fail('the manifest is missing')
const { manifest, public_key, signature, ...others } = end
const { key_id, signature: signed, ...beside } = signature
if (Object.keys({ ...others, ...beside }).length > 0) fail('something stands beside the manifest')
for (const { name, count, sha256 } of manifest.sections) {
  const part = found.get(name) ?? { count: 0, hash: createHash('sha256') }
  if (part.count !== count || part.hash.digest('hex') !== sha256) fail(`the section ${name} was changed`)
  found.delete(name)
}
if (found.size > 0) fail(`the manifest does not name ${[...found.keys()]}`)
if (entry && entry.hash !== manifest.ledger_range?.head_hash) fail('the ledger ends elsewhere')
const key = createPublicKey(public_key)
const { crv, kty, x } = key.export({ format: 'jwk' })
const id = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
if (id !== key_id || key.export({ format: 'pem', type: 'spki' }) !== public_key) fail('the key was changed')
if (keysFile && !JSON.parse(readFileSync(keysFile, 'utf8')).keys.some((known) => known.id === id))
  fail('the key is unknown')
const bytes = Buffer.from(signed, 'base64url')
if (bytes.toString('base64url') !== signed || !verify(null, Buffer.from(canonical(manifest)), key, bytes))
  fail('the signature is not of this manifest')
console.log(`valid: ${manifest.event_count} items in ${manifest.sections.length} sections, signed by ${id}`)
